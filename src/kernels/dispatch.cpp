// Selects the kernels for the instruction set of this machine.
#include <stdlib.h>

#include "kernels/instruction_sets.h"

namespace runhooks {

namespace {

#if defined(__x86_64__) && defined(__GNUC__)
bool has_avx2() noexcept { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_avx512() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

// Only dense layers use AVX-512; the other kernels are those of AVX2.
const Kernels* avx512_kernels() noexcept {
  static const Kernels table = {
      "avx512",         &avx512_gemm, &avx512_dense, avx2_kernels.updates, avx2_kernels.histograms,
      avx2_kernels.rows};
  return &table;
}
#endif

bool equal(const char* a, const char* b) noexcept {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}

}  // namespace

const Kernels* find_kernels(const char* isa) noexcept {
#if defined(__x86_64__) && defined(__GNUC__)
  if (equal(isa, "avx2")) return has_avx2() ? &avx2_kernels : nullptr;
  if (equal(isa, "avx512")) return has_avx512() ? avx512_kernels() : nullptr;
#endif
  return equal(isa, "base") || equal(isa, base_kernels.isa) ? &base_kernels : nullptr;
}

const Kernels& choose_kernels(const char* requested) noexcept {
  const char* const names[] = {"avx512", "avx2", "base"};
  int first = 0;
  while (first < 3 && !(requested && equal(requested, names[first]))) ++first;
  if (first == 3) {
    // Starts with "base" on Windows: the stack is aligned to 16 bytes, so aligned spills of AVX
    // registers crash (GCC bug 54412). They are avoided if configure.win defines
    // RUNHOOKS_UNALIGNED_MOVES, because the assembler emits unaligned moves.
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
  static const Kernels* selected;
  const Kernels* table = __atomic_load_n(&selected, __ATOMIC_ACQUIRE);
  if (!table) {
    table = &choose_kernels(getenv("RUNHOOKS_ISA"));
    __atomic_store_n(&selected, table, __ATOMIC_RELEASE);
  }
  return *table;
}

}  // namespace runhooks
