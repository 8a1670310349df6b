// What lives here: the update rules of optimizers, as every machine of this architecture runs them.
// Who may use it: dispatch.cpp.
// What it must not know: other instruction sets.
#include "kernels/updates.h"

#define RUNHOOKS_TABLE updates_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/updates.inc"
