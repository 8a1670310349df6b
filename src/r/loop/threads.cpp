// What the machine offers, and how much of it kernels may use.
#include "base/threads.h"

#include <cstdlib>
#include <thread>

#include "r/values/guarded_entry.h"

// Kernels use at most this many threads, and no more than the machine and OMP_THREAD_LIMIT allow.
// The number that they use.
// [[Rcpp::export(rng = false)]]
int cpp_set_threads(int threads) {
  const auto offered = static_cast<int>(std::thread::hardware_concurrency());
  if (offered > 0) threads = std::min(threads, offered);
  const char* limit = std::getenv("OMP_THREAD_LIMIT");
  const long most = limit ? std::strtol(limit, nullptr, 10) : 0;            // NOLINT: strtol's type
  if (most > 0) threads = static_cast<int>(std::min<long>(threads, most));  // NOLINT
  runhooks::set_kernel_threads(threads);
  return runhooks::kernel_threads();
}
