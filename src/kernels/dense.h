// Declares the kernel tables that the three builds of dense.inc define.
#pragma once

#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "kernels/kernels.h"
#include "base/thread_pool.h"

namespace runhooks {

extern const DenseKernels dense_base;
extern const DenseKernels dense_avx2;
extern const DenseKernels dense_avx512;

}  // namespace runhooks
