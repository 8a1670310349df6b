// Kernels of dense layers (bias, column sums), compiled for the baseline instruction set.
#include "kernels/dense.h"

#define RUNHOOKS_TABLE dense_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/dense.inc"
