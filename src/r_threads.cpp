// What the machine offers.
#include "runhooks_r.h"

#ifdef _OPENMP
#include <omp.h>
#endif

// The number of threads that OpenMP would use; 1 where the compiler has none.
// [[Rcpp::export(rng = false)]]
int cpp_openmp_threads() {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}
