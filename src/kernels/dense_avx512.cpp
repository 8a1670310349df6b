// Kernels of dense layers, compiled for AVX-512. Other kernels gain too little (bench/README.md).
#include "kernels/instruction_sets.h"

#if defined(__x86_64__) && defined(__GNUC__)

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,fma")
#endif

#define RUNHOOKS_VECTOR_BYTES 64
#define RUNHOOKS_MASKS
#define RUNHOOKS_TILE_ROWS 14
#define RUNHOOKS_PANEL_BYTES 28672

namespace runhooks {
namespace {

// clang-format off
#include "kernels/shares.inc"
#include "kernels/simd.inc"
#include "kernels/transpose.inc"
#include "kernels/dense.inc"
#include "kernels/gemm.inc"
// clang-format on

}  // namespace

const GemmKernels avx512_gemm = gemm_kernels;
const DenseKernels avx512_dense = dense_kernels;

}  // namespace runhooks

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
