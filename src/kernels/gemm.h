// Declares the kernel tables of the three builds of gemm.inc, and their packing buffer.
#pragma once

#include <stddef.h>
#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "kernels/kernels.h"
#include "base/thread_pool.h"

namespace runhooks {

extern const GemmKernels gemm_base;
extern const GemmKernels gemm_avx2;
extern const GemmKernels gemm_avx512;

// Returns the calling thread's buffer, at least `bytes` long and aligned to 64; null if out of
// memory. The next call on this thread reuses it, so repeated steps do not allocate.
void* gemm_workspace(size_t bytes) noexcept;

}  // namespace runhooks
