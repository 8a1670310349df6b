// Row transposition for the architecture's base instruction set.
#include "kernels/rows.h"

#define RUNHOOKS_TABLE rows_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/rows.inc"
