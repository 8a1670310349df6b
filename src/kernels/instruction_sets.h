// The kernel tables of the instruction sets, and the declarations that all kernel sources need.
#pragma once

#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "base/thread_pool.h"
#include "kernels/kernels.h"

namespace runhooks {

extern const Kernels base_kernels;
extern const Kernels avx2_kernels;
extern const GemmKernels avx512_gemm;
extern const DenseKernels avx512_dense;

// Returns a buffer of the calling thread with at least `bytes` bytes, aligned to 64; null if out of
// memory. The next call on this thread returns the same buffer, so repeated steps do not allocate.
void* gemm_workspace(size_t bytes) noexcept;

}  // namespace runhooks
