// What lives here: the AVX-512 shape of the matrix product in instructions that every machine has.
// Who may use it: test_kernels.cpp, so that its tiles are tested where AVX-512 is missing.
// What it must not know: tests.
#include "kernels/gemm.h"

namespace runhooks {
extern const GemmKernels gemm_wide;
}

#pragma GCC diagnostic ignored "-Wpsabi"
#define RUNHOOKS_TABLE gemm_wide
#define RUNHOOKS_VECTOR_BYTES 64
#define RUNHOOKS_TILE_ROWS 14
#define RUNHOOKS_PANEL_BYTES 28672
#include "kernels/gemm.inc"
