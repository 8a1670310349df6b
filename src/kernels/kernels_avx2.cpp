// All kernels, compiled for AVX2 and FMA.
// The target must be a string literal because GCC does not expand macros in this pragma.
#include "kernels/instruction_sets.h"

#if defined(__x86_64__) && defined(__GNUC__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define RUNHOOKS_ISA "avx2"
#define RUNHOOKS_TABLE avx2_kernels
#define RUNHOOKS_VECTOR_BYTES 32
#define RUNHOOKS_TILE_ROWS 6
#define RUNHOOKS_PANEL_BYTES 20480
#include "kernels/kernels.inc"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
