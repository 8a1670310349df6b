// What the three builds of gemm.inc share: the tables and the memory to pack into.
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

// At least this many bytes, aligned to 64, that belong to the calling thread until it asks again: a
// steady step does not allocate. Null where there is no memory.
void* gemm_workspace(size_t bytes) noexcept;

}  // namespace runhooks
