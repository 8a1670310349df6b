// What lives here: the sums of boosted trees, as every machine of this architecture runs them.
// Who may use it: dispatch.cpp.
// What it must not know: other instruction sets.
#include "kernels/histograms.h"

#define RUNHOOKS_TABLE histograms_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/histograms.inc"
