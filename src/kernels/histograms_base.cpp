// Kernels of boosted trees, compiled for the baseline instruction set.
#include "kernels/histograms.h"

#define RUNHOOKS_TABLE histograms_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/histograms.inc"
