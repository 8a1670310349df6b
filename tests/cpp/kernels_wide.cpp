// The AVX-512 form of the matrix product in portable instructions, so that test_kernels.cpp can
// test its tiles on any machine.
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
