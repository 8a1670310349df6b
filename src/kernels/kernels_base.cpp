// All kernels, compiled for the baseline instruction set.
#include "kernels/instruction_sets.h"

#define RUNHOOKS_TABLE base_kernels
#define RUNHOOKS_VECTOR_BYTES 16
#define RUNHOOKS_PANEL_BYTES 12288
#if defined(__aarch64__)  // 32 registers; the compiler uses NEON, which every processor has
#define RUNHOOKS_ISA "neon"
#define RUNHOOKS_TILE_ROWS 8
#else
#define RUNHOOKS_ISA "base"
#define RUNHOOKS_TILE_ROWS 4
#endif
#include "kernels/kernels.inc"
