// Optimizer updates, compiled for the baseline instruction set.
#include "kernels/updates.h"

#define RUNHOOKS_TABLE updates_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/updates.inc"
