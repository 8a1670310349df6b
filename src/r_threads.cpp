// What the machine offers, and how much of it kernels may use.
#include "runhooks_r.h"
#include "tensor/threads.h"

#ifdef _OPENMP
#include <omp.h>
#endif

// Kernels use at most this many threads, and no more than the machine and OMP_THREAD_LIMIT allow.
// The number that they use.
// [[Rcpp::export(rng = false)]]
int cpp_set_threads(int threads) {
#ifdef _OPENMP
  threads = std::min({threads, omp_get_num_procs(), omp_get_thread_limit()});
#else
  threads = 1;
#endif
  runhooks::set_kernel_threads(threads);
  return runhooks::kernel_threads();
}
