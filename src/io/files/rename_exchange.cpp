#include "io/files/rename_exchange.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/paths.h"
#include "base/platform.h"
#include "base/system_files.h"
#include "io/files/atomic_file.h"

#if defined(__linux__)
#include <fcntl.h>
#endif
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 28)  // in a separate line, because other C libraries lack the macro
#define RUNHOOKS_HAS_RENAMEAT2 1
#endif
#endif

namespace runhooks {

namespace {

int exchange([[maybe_unused]] const std::string& a, [[maybe_unused]] const std::string& b) {
  if (!feature_enabled(SystemFeature::kExchange)) return ENOSYS;
#if defined(RUNHOOKS_HAS_RENAMEAT2)
  constexpr unsigned kExchange = 2;  // RENAME_EXCHANGE, missing in older headers
  const std::string from = system_path(a), to = system_path(b);
  return renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), kExchange) == 0 ? 0 : errno;
#elif defined(__APPLE__) && defined(RENAME_SWAP)
  return renamex_np(a.c_str(), b.c_str(), RENAME_SWAP) == 0 ? 0 : errno;
#else
  return ENOSYS;
#endif
}

}  // namespace

bool rename_exchange(const std::string& a, const std::string& b) {
  switch (const int reason = exchange(a, b)) {
    case 0:
      return true;
    case ENOSYS:
    case EINVAL:
    case ENOTSUP:
    case EXDEV:
    case EBUSY:
    case EPERM:
    case EACCES:
      return false;
    default:
      throw_system("Cannot replace", b, reason);
  }
}

bool renames(const std::string& from, const std::string& to) { return !rename_path(from, to); }

bool replace_by_two_renames(const std::string& from, const std::string& to, const std::string& aside) {
  if (!renames(to, aside)) return false;
  const std::error_code error = rename_path(from, to);
  if (!error) return true;
  renames(aside, to);
  throw_system("Cannot replace", to, error.default_error_condition().value());
}

}  // namespace runhooks
