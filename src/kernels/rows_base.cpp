// What lives here: rows turned into columns, as every machine of this architecture does it.
// Who may use it: dispatch.cpp.
// What it must not know: other instruction sets.
#include "kernels/rows.h"

#define RUNHOOKS_TABLE rows_base
#define RUNHOOKS_VECTOR_BYTES 16
#include "kernels/rows.inc"
