// Declares the kernel tables that the three builds of rows.inc define.
#pragma once

#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "kernels/kernels.h"

namespace runhooks {

extern const RowKernels rows_base;
extern const RowKernels rows_avx2;
extern const RowKernels rows_avx512;

}  // namespace runhooks
