// Selects the kernels for the instruction set of this machine.
#include <stdlib.h>

#include "kernels/dense.h"
#include "kernels/gemm.h"
#include "kernels/histograms.h"
#include "kernels/kernels.h"
#include "kernels/rows.h"
#include "kernels/updates.h"

namespace runhooks {

namespace {

#if defined(__aarch64__)
// Every aarch64 processor has NEON, so the compiler uses it for the baseline kernels.
#define RUNHOOKS_BASE_ISA "neon"
#else
#define RUNHOOKS_BASE_ISA "base"
#endif

const Kernels base = {RUNHOOKS_BASE_ISA, &gemm_base,       &dense_base,
                      &updates_base,     &histograms_base, &rows_base};
#if defined(__x86_64__) && defined(__GNUC__)
const Kernels avx2 = {"avx2", &gemm_avx2, &dense_avx2, &updates_avx2, &histograms_avx2, &rows_avx2};
const Kernels avx512 = {"avx512",        &gemm_avx512,       &dense_avx512,
                        &updates_avx512, &histograms_avx512, &rows_avx512};

bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}
#endif

bool equal(const char* a, const char* b) noexcept {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace

const Kernels* find_kernels(const char* isa) noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  if (equal(isa, "avx2")) return has_avx2() ? &avx2 : nullptr;
  if (equal(isa, "avx512")) return has_avx512() ? &avx512 : nullptr;
#endif
  return equal(isa, "base") || equal(isa, RUNHOOKS_BASE_ISA) ? &base : nullptr;
}

const Kernels& choose_kernels(const char* requested) noexcept {
  const char* const names[] = {"avx512", "avx2", "base"};
  int first = 0;
  while (first < 3 && !(requested && equal(requested, names[first]))) ++first;
  if (first == 3) {
    // Aligned spills of AVX registers crash on Windows, where the stack is aligned to 16 bytes (GCC
    // bug 54412). AVX is opt-in unless configure.win found an assembler that emits unaligned moves.
#if defined(_WIN32) && !defined(__clang__) && !defined(RUNHOOKS_UNALIGNED_MOVES)
    first = 2;
#else
    first = 0;
#endif
  }
  while (first < 2 && !find_kernels(names[first])) ++first;
  return *find_kernels(names[first]);
}

const Kernels& kernels() noexcept {
  // Concurrent first calls are harmless because they select the same table.
  static const Kernels* chosen;
  const Kernels* table = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
  if (!table) {
    table = &choose_kernels(getenv("RUNHOOKS_ISA"));
    __atomic_store_n(&chosen, table, __ATOMIC_RELEASE);
  }
  return *table;
}

}  // namespace runhooks
