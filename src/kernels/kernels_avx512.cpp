// All kernels, compiled for AVX-512.
#include "kernels/instruction_sets.h"

#if defined(__x86_64__) && defined(__GNUC__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,fma")
#endif

#define RUNHOOKS_ISA "avx512"
#define RUNHOOKS_TABLE avx512_kernels
#define RUNHOOKS_VECTOR_BYTES 64
#define RUNHOOKS_MASKS
#define RUNHOOKS_TILE_ROWS 14
#define RUNHOOKS_PANEL_BYTES 28672
#include "kernels/kernels.inc"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
