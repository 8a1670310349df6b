// Declares the kernel tables that the three builds of updates.inc define.
#pragma once

#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include "kernels/kernels.h"

namespace runhooks {

extern const UpdateKernels updates_base;
extern const UpdateKernels updates_avx2;
extern const UpdateKernels updates_avx512;

}  // namespace runhooks
