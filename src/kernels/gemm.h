// Declares the kernel tables that the three builds of gemm.inc define, and their packing buffer.
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

// Returns at least this many bytes, aligned to 64, which the calling thread owns until its next
// call. The buffer is reused, so that repeated steps do not allocate. Null without memory.
void* gemm_workspace(size_t bytes) noexcept;

}  // namespace runhooks
