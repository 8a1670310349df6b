// Dense layer kernels for the architecture's base instruction set.
#include "kernels/dense.h"

#define RUNHOOKS_TABLE dense_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/dense.inc"
