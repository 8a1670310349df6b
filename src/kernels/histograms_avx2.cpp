// Kernels of boosted trees, compiled for AVX2 and FMA.
#include "kernels/histograms.h"

#if defined(__x86_64__) && defined(__GNUC__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define RUNHOOKS_TABLE histograms_avx2
#define RUNHOOKS_VECTOR_BYTES 32
#include "kernels/histograms.inc"

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
