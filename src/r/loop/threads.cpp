#include "base/threads.h"

#include <cstdlib>
#include <string>

#include "base/cpu_count.h"
#include "kernels/kernels.h"
#include "r/values/guarded_entry.h"

// Sets the number of threads and returns it. The machine and OMP_THREAD_LIMIT may reduce it.
// [[Rcpp::export(rng = false)]]
int cpp_set_threads(int threads, bool is_default) {
  runhooks::set_kernel_threads(
      runhooks::limit_threads(threads, is_default, runhooks::usable_cpus(),
                              runhooks::local_processes(), std::getenv("OMP_THREAD_LIMIT")));
  return runhooks::kernel_threads();
}

// Returns the instruction set in use, followed by all sets that this machine supports.
// [[Rcpp::export(rng = false)]]
std::vector<std::string> cpp_instruction_sets() {
  std::vector<std::string> names = {runhooks::kernels().isa};
  for (const char* name : {"base", "neon", "avx2", "avx512"}) {
    if (runhooks::find_kernels(name)) names.emplace_back(name);
  }
  return names;
}
