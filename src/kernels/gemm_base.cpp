// Matrix products, compiled for the baseline instruction set.
#include "kernels/gemm.h"

#define RUNHOOKS_TABLE gemm_base
#define RUNHOOKS_VECTOR_BYTES 16
#if defined(__aarch64__)  // 32 registers
#define RUNHOOKS_TILE_ROWS 8
#else
#define RUNHOOKS_TILE_ROWS 4
#endif
#define RUNHOOKS_PANEL_BYTES 12288
#include "kernels/gemm.inc"
