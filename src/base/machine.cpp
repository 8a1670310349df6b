#include "base/machine.h"

#include <cerrno>
#include <cstdlib>
#include <thread>

#include "base/status.h"
#include "base/windows.h"

#if defined(_WIN32)
#include <process.h>
#else
#include <signal.h>
#include <sys/utsname.h>
#include <unistd.h>
#endif

namespace runhooks {

int process_id() {
#if defined(_WIN32)
  return _getpid();
#else
  return static_cast<int>(getpid());
#endif
}

bool process_exists(int process) {
#if defined(_WIN32)
  const HANDLE handle =
      OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, static_cast<DWORD>(process));
  if (!handle) return GetLastError() != ERROR_INVALID_PARAMETER;
  DWORD status = STILL_ACTIVE;
  const bool has_status = GetExitCodeProcess(handle, &status);
  CloseHandle(handle);
  return !has_status || status == STILL_ACTIVE;
#else
  return kill(process, 0) == 0 || errno != ESRCH;
#endif
}

int processors() {
#if defined(_SC_NPROCESSORS_ONLN)
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
#else
  return static_cast<int>(std::thread::hardware_concurrency());
#endif
}

std::string host_name() {
#if defined(_WIN32)
  const char* name = std::getenv("COMPUTERNAME");
  return name && *name ? name : "localhost";
#else
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 && *name ? name : "localhost";
#endif
}

std::string machine_description() {
  const int n = processors();
  const std::string count = str_cat(n, n == 1 ? " processor" : " processors");
#if defined(_WIN32)
  return "Windows, " + count;
#else
  utsname system = {};
  if (uname(&system) != 0) return count;
  return str_cat(system.sysname, " ", system.release, " ", system.machine, ", ", count);
#endif
}

}  // namespace runhooks
