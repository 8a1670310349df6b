// Transposition of rows into columns, compiled for the baseline instruction set.
#include "kernels/rows.h"

#define RUNHOOKS_TABLE rows_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/rows.inc"
