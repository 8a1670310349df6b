// The hot loops, one table per instruction set, and the choice among them.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace runhooks {

// A matrix whose element (i, p) is a[rows[i] + steps(p)]: the patches of images that a convolution
// multiplies, without a copy of them. The steps are runs, one after the other; those of a run are
// `stride` apart, and none has more than kLongestRun.
struct Run {
  int64_t offset, length;
};
struct GatheredRows {
  const int64_t* rows;
  const Run* runs;
  int64_t num_rows, num_runs, stride;
};
constexpr int64_t kLongestRun = 192;

// All matrices are dense and row-major. `threads` is the most that a call may use; small work stays
// on one. The results are the same bits for any number of threads, but not for any instruction set
// (fused multiply-add).

// c[m x n] = op(a) op(b), or += where `accumulate`. op(a) is m x k: `a` itself, or the transpose of
// the k x m matrix `a` where `trans_a`; op(b) is k x n likewise. c overlaps neither a nor b. Where
// c is not accumulated into it is not read. In `..._turned` op(a) is the transpose of m
// columns of a k x `width` matrix, the first of them at `a`.
struct GemmKernels {
  void (*sgemm)(bool trans_a,
                bool trans_b,
                int64_t m,
                int64_t n,
                int64_t k,
                const float* a,
                const float* b,
                float* c,
                bool accumulate,
                int threads);
  void (*dgemm)(bool trans_a,
                bool trans_b,
                int64_t m,
                int64_t n,
                int64_t k,
                const double* a,
                const double* b,
                double* c,
                bool accumulate,
                int threads);
  void (*sgemm_turned)(bool trans_b,
                       int64_t width,
                       int64_t m,
                       int64_t n,
                       int64_t k,
                       const float* a,
                       const float* b,
                       float* c,
                       int threads);
  void (*dgemm_turned)(bool trans_b,
                       int64_t width,
                       int64_t m,
                       int64_t n,
                       int64_t k,
                       const double* a,
                       const double* b,
                       double* c,
                       int threads);
  // c[i] = op(a[i]) op(b[i]) for `count` products of one shape.
  void (*sgemm_each)(int64_t count,
                     bool trans_a,
                     bool trans_b,
                     int64_t m,
                     int64_t n,
                     int64_t k,
                     const float* const* a,
                     const float* const* b,
                     float* const* c,
                     int threads);
  void (*dgemm_each)(int64_t count,
                     bool trans_a,
                     bool trans_b,
                     int64_t m,
                     int64_t n,
                     int64_t k,
                     const double* const* a,
                     const double* const* b,
                     double* const* c,
                     int threads);
  // c[num_rows x n] (+)= the gathered rows times b, on the calling thread.
  void (*sgathered)(const GatheredRows& rows,
                    int64_t n,
                    const float* a,
                    const float* b,
                    float* c,
                    bool accumulate);
  void (*dgathered)(const GatheredRows& rows,
                    int64_t n,
                    const double* a,
                    const double* b,
                    double* c,
                    bool accumulate);
};

// add_bias: out[i, j] = x[i, j] + bias[j]; out may be x. column_sums: out[j] = the sum of x[., j].
// add_all: out[j] = x[0][j] + x[1][j] + ... of `count` vectors, in this order, for n numbers j from
// `first` on; out is none of them, or x[0].
struct DenseKernels {
  void (*sadd_bias)(
      int64_t rows, int64_t cols, const float* x, const float* bias, float* out, int threads);
  void (*dadd_bias)(
      int64_t rows, int64_t cols, const double* x, const double* bias, double* out, int threads);
  void (*scolumn_sums)(int64_t rows, int64_t cols, const float* x, float* out, int threads);
  void (*dcolumn_sums)(int64_t rows, int64_t cols, const double* x, double* out, int threads);
  void (*sadd_all)(int64_t count, int64_t first, int64_t n, const float* const* x, float* out);
  void (*dadd_all)(int64_t count, int64_t first, int64_t n, const double* const* x, double* out);
};

// One step of an optimizer on n numbers that lie in a row. sftrl takes the square root of the
// accumulator, learning_rate_power is -0.5.
struct FtrlRates {
  float lr, l1, l2, l2_shrinkage;
};
// `step` is the learning rate with the bias of both moments corrected.
struct AdamRates {
  float step, one_minus_beta1, one_minus_beta2, epsilon;
};
struct UpdateKernels {
  void (*sftrl)(int64_t n,
                const FtrlRates* rates,
                float* var,
                float* accum,
                float* linear,
                const float* grad);
  void (*sadagrad)(int64_t n, float lr, float* var, float* accum, const float* grad);
  void (*sadam)(
      int64_t n, const AdamRates* rates, float* var, float* m, float* v, const float* grad);
};

// Growing trees. The bins of a row's features lie side by side, kBinRowBytes a row: up to 8 of a
// byte, or 4 of two, so that their sums fit into the nearest cache. A gradient g and a hessian h,
// both whole numbers, are packed as g * 2^32 + h, so that one addition serves both: the sums are
// right as long as neither leaves 31 bits, and the same in any order.
constexpr int64_t kBinRowBytes = 8;
constexpr int64_t kByteBins = 256;
struct GainRules {
  double gradient, hessian;  // all
  double l1, l2;
};
// What gradients and hessians are times, the numbers of their first elements, and by how much those
// of the next ones are larger.
struct PackRules {
  float gradient_scale, hessian_scale;
  uint32_t first_gradient, first_hessian, by;
};
// What parting n rows may write beyond them in its spare room.
constexpr int64_t kPartedBeyond = 16;
// How many numbers there must be room for in a table, used or not, of which numbers are picked.
constexpr int64_t kPickedRoom = 64;
// A tree whose leaves all lie in one depth, 1 to kDeepestByteTree: node i (from 1 on) has the
// children 2i and 2i + 1, and a row goes right where the code at the node's place is above the
// threshold.
constexpr int64_t kForestRows = 64;
constexpr int32_t kDeepestByteTree = 8;
struct ByteNode {
  uint32_t first;      // where the codes of its place begin
  uint32_t threshold;  // four times, as registers take it without a detour
};
constexpr ByteNode byte_node(uint32_t place, uint8_t threshold) noexcept {
  return {place * static_cast<uint32_t>(kForestRows), threshold * 0x01010101u};
}
struct ByteTree {
  int32_t depth, first_node, first_leaf;
};
struct HistogramKernels {
  // sums[(f * 256 + bin of f) * logits + k] += packed[i * logits + k] for all n rows.
  void (*add8)(int64_t n,
               int64_t features,
               int64_t logits,
               const uint8_t* rows,
               const int64_t* packed,
               int64_t* sums);
  // The same of bins of two bytes, `bins` a feature.
  void (*add16)(int64_t n,
                int64_t features,
                int64_t bins,
                int64_t logits,
                const uint8_t* rows,
                const int64_t* packed,
                int64_t* sums);
  // Adds n packed sums to those of gradients and of hessians, or writes them there if they are the
  // first; makes them zero.
  void (*flush)(int64_t n, bool are_first, int64_t* sums, int64_t* gradients, int64_t* hessians);
  // Gradients and hessians as whole numbers below 2^30, packed; fractions go up or down by the
  // number of the element, so that sums stay in the middle. Whole numbers stay as they are.
  void (*pack)(int64_t n,
               const float* gradients,
               const float* hessians,
               const PackRules* rules,
               int64_t* packed);
  // The largest |x|, as bits: above those of the infinity where one is NaN.
  uint32_t (*largest)(int64_t n, const float* x);
  // to[i] = from[ids[i]], each of `logits` numbers.
  void (*gather)(int64_t n, int64_t logits, const uint16_t* ids, const int64_t* from, int64_t* to);
  // out[i] = table[the first bin of row i].
  void (*look_up8)(int64_t n, const uint8_t* rows, const uint8_t* table, uint8_t* out);
  void (*look_up16)(int64_t n, const uint8_t* rows, const uint8_t* table, uint8_t* out);
  // Those of n rows, or of their ids, that go left (1, the others 0) to the front, the others
  // behind them, each side in its order. There is spare room for n + kPartedBeyond. Returns how
  // many go left.
  int64_t (*part_rows)(int64_t n, const uint8_t* goes_left, uint8_t* rows, uint8_t* spare);
  int64_t (*part_ids)(int64_t n, const uint8_t* goes_left, uint16_t* ids, uint16_t* spare);
  // sums[i] = x[i] + table[which[i]], a table of `count` numbers.
  void (*add_picked)(int64_t n,
                     const uint16_t* which,
                     int64_t count,
                     const float* table,
                     const float* x,
                     float* sums);
  // out[i] = how many of the bounds are below x[i], 0 for NaN. The bounds are 2^steps - 1 numbers
  // as a heap from place 1 on: the lower ones of bound i are at 2i and below, the upper ones at 2i
  // + 1.
  void (*find_bins)(int64_t n, const float* x, int32_t steps, const float* bounds, int32_t* out);
  // codes[i] = bins[i] + 1, or most + 1 where that is less; `missing` where the bin is negative.
  void (*encode)(int64_t n, const int32_t* bins, int32_t most, int32_t missing, uint8_t* codes);
  // Adds to gains[i] those of two leaves, one with these sums, the other with the rest of all.
  void (*add_gains)(int64_t n,
                    const double* gradients,
                    const double* hessians,
                    const GainRules* rules,
                    double* gains);
  // Adds to the sums of kForestRows rows the leaves of n trees, one tree after another. The codes
  // of a place lie side by side in `block`.
  void (*add_trees)(int64_t n,
                    const ByteTree* trees,
                    const ByteNode* nodes,
                    const float* leaves,
                    const uint8_t* block,
                    float* sums);
  // The sum of the logistic losses of n logits x whose labels are probabilities; what each loss,
  // times `part`, changes by with its logit, once and twice. The same bits by all sets.
  double (*logistic)(int64_t n,
                     const float* x,
                     const float* labels,
                     float part,
                     float* gradients,
                     float* hessians);
};

// Number `at + i` of to[k] = number k of rows[i], for n rows of `columns` numbers of 4 bytes
// (turn4) or 8.
struct RowKernels {
  void (*turn4)(int64_t n, int64_t columns, const char* const* rows, char* const* to, int64_t at);
  void (*turn8)(int64_t n, int64_t columns, const char* const* rows, char* const* to, int64_t at);
};

struct Kernels {
  const char* isa;  // "base", "avx2", "avx512"; "neon" on arm64, where it is the base set
  const GemmKernels* gemm;
  const DenseKernels* dense;
  const UpdateKernels* updates;
  const HistogramKernels* histograms;
  const RowKernels* rows;
};

// The best table that this machine runs. RUNHOOKS_ISA=base|avx2|avx512 in the environment asks for
// less; it is read once.
const Kernels& kernels() noexcept;
// The choice itself: the table that `wanted` (may be null) names, or the best below it.
const Kernels& choose_kernels(const char* wanted) noexcept;
// The table of this name; null where the build or the machine does not have it.
const Kernels* find_kernels(const char* isa) noexcept;

inline void sgemm(bool trans_a,
                  bool trans_b,
                  int64_t m,
                  int64_t n,
                  int64_t k,
                  const float* a,
                  const float* b,
                  float* c,
                  bool accumulate,
                  int threads) {
  kernels().gemm->sgemm(trans_a, trans_b, m, n, k, a, b, c, accumulate, threads);
}

inline void dgemm(bool trans_a,
                  bool trans_b,
                  int64_t m,
                  int64_t n,
                  int64_t k,
                  const double* a,
                  const double* b,
                  double* c,
                  bool accumulate,
                  int threads) {
  kernels().gemm->dgemm(trans_a, trans_b, m, n, k, a, b, c, accumulate, threads);
}

}  // namespace runhooks
