// What lives here: the loops of dense layers beside the product, as every machine of this
// architecture runs them. Who may use it: dispatch.cpp. What it must not know: other instruction
// sets.
#include "kernels/dense.h"

#define RUNHOOKS_TABLE dense_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/dense.inc"
