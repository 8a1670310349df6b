// The AVX-512 form of the matrix product in portable instructions, so that test_kernels.cpp can
// test its tiles on any machine.
#include "kernels/instruction_sets.h"

#pragma GCC diagnostic ignored "-Wpsabi"
#define RUNHOOKS_VECTOR_BYTES 64
#define RUNHOOKS_TILE_ROWS 14
#define RUNHOOKS_PANEL_BYTES 28672

namespace runhooks {
namespace {

// clang-format off
#include "kernels/shares.inc"
#include "kernels/simd.inc"
#include "kernels/transpose.inc"
#include "kernels/gemm.inc"
// clang-format on

}  // namespace

extern const GemmKernels gemm_wide;
const GemmKernels gemm_wide = gemm_kernels;

}  // namespace runhooks
