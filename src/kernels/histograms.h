// Declares the kernel tables that the three builds of histograms.inc define.
#pragma once

#include <stdint.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "kernels/kernels.h"

namespace runhooks {

extern const HistogramKernels histograms_base;
extern const HistogramKernels histograms_avx2;
extern const HistogramKernels histograms_avx512;

}  // namespace runhooks
