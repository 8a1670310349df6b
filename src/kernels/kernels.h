// Provides the innermost loops as one table per instruction set, and selects a table.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace runhooks {

// A matrix whose element (i, p) is a[rows[i] + steps(p)], for example the image patches of a
// convolution, which are multiplied without a copy. The steps are a sequence of runs. Steps within
// a run are `stride` apart, and a run has at most kLongestRun steps.
struct Run {
  int64_t offset, length;
};
struct GatheredRows {
  const int64_t* rows;
  const Run* runs;
  int64_t num_rows, num_runs, stride;
};
constexpr int64_t kLongestRun = 192;

// All matrices are dense and row-major. `threads` is the maximum number of threads; small products
// use one. Results have the same bits for any number of threads, but not for different instruction
// sets, because of fused multiply-add.

// c[m x n] = op(a) op(b), or += with `accumulate`. op(a) is m x k: the matrix `a` itself, or with
// `trans_a` the transpose of the k x m matrix `a`. op(b) is k x n in the same way. c overlaps
// neither a nor b, and is not read without `accumulate`. In `..._turned`, op(a) is the transpose of
// m columns, starting at `a`, of a k x `width` matrix.
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
  // c[i] = op(a[i]) op(b[i]) for `count` products of the same shape.
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
// add_all: out[j] = x[0][j] + x[1][j] + ... over `count` vectors in this order, for n elements j
// starting at `first`. out may be x[0], but no other vector.
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

// One optimizer step on n contiguous numbers. sftrl uses the square root of the accumulator
// (learning_rate_power = -0.5).
struct FtrlRates {
  float lr, l1, l2, l2_shrinkage;
};
// `step` is the learning rate, corrected for the bias of both moments.
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

// Tree growth. The bins of a row's features are stored together, in kBinRowBytes per row (up to 8
// one-byte bins or 4 two-byte bins), so that their sums fit into the first-level cache. An integer
// gradient g and hessian h are packed as g * 2^32 + h, so that one addition adds both. The sums are
// exact in any order if both stay within 31 bits.
constexpr int64_t kBinRowBytes = 8;
constexpr int64_t kByteBins = 256;
struct GainRules {
  double gradient, hessian;  // of all rows
  double l1, l2;
};
// Scale factors of gradients and hessians, the sequence numbers of their first elements, and the
// increment of these numbers per element.
struct PackRules {
  float gradient_scale, hessian_scale;
  uint32_t first_gradient, first_hessian, by;
};
// part_rows() may write this many bytes past n rows in its scratch buffer.
constexpr int64_t kPartedBeyond = 16;
// Minimum allocated length of a table for add_picked(), whether the elements are used or not.
constexpr int64_t kPickedRoom = 64;
// A complete tree of depth 1 to kDeepestByteTree. Node i (starting at 1) has the children 2i and 2i
// + 1. A row goes right if its code for the node's feature is above the threshold.
constexpr int64_t kForestRows = 64;
constexpr int32_t kDeepestByteTree = 8;
struct ByteNode {
  uint32_t first;      // index of the first code of its feature
  uint32_t threshold;  // repeated in all four bytes
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
  // As add8, for two-byte bins, with `bins` bins per feature.
  void (*add16)(int64_t n,
                int64_t features,
                int64_t bins,
                int64_t logits,
                const uint8_t* rows,
                const int64_t* packed,
                int64_t* sums);
  // Adds n packed sums to the gradient and hessian sums, or stores them if they are the first.
  // Resets the packed sums to zero.
  void (*flush)(int64_t n, bool are_first, int64_t* sums, int64_t* gradients, int64_t* hessians);
  // Packs gradients and hessians as integers below 2^30. The element's sequence number decides how
  // a fraction is rounded, so that sums are unbiased. Whole numbers are exact.
  void (*pack)(int64_t n,
               const float* gradients,
               const float* hessians,
               const PackRules* rules,
               int64_t* packed);
  // The largest |x|, as bits; above the bits of infinity if an element is NaN.
  uint32_t (*largest)(int64_t n, const float* x);
  // to[i] = from[ids[i]], with `logits` numbers each.
  void (*gather)(int64_t n, int64_t logits, const uint16_t* ids, const int64_t* from, int64_t* to);
  // out[i] = table[first bin of row i].
  void (*look_up8)(int64_t n, const uint8_t* rows, const uint8_t* table, uint8_t* out);
  void (*look_up16)(int64_t n, const uint8_t* rows, const uint8_t* table, uint8_t* out);
  // Stable partition of n rows, or of their ids: rows with goes_left = 1 first, then those with 0.
  // The scratch buffer has n + kPartedBeyond elements. Returns the number of rows that go left.
  int64_t (*part_rows)(int64_t n, const uint8_t* goes_left, uint8_t* rows, uint8_t* spare);
  int64_t (*part_ids)(int64_t n, const uint8_t* goes_left, uint16_t* ids, uint16_t* spare);
  // sums[i] = x[i] + table[which[i]], for a table of `count` numbers.
  void (*add_picked)(int64_t n,
                     const uint16_t* which,
                     int64_t count,
                     const float* table,
                     const float* x,
                     float* sums);
  // out[i] = the number of bounds below x[i]; 0 for NaN. The 2^steps - 1 bounds are stored as a
  // heap that starts at index 1: the subtree of lower bounds of i starts at 2i, that of upper
  // bounds at 2i + 1.
  void (*find_bins)(int64_t n, const float* x, int32_t steps, const float* bounds, int32_t* out);
  // codes[i] = min(bins[i], most) + 1, or `missing` if the bin is negative.
  void (*encode)(int64_t n, const int32_t* bins, int32_t most, int32_t missing, uint8_t* codes);
  // Adds to gains[i] the gains of two leaves: one with these sums, the other with the remaining
  // sums.
  void (*add_gains)(int64_t n,
                    const double* gradients,
                    const double* hessians,
                    const GainRules* rules,
                    double* gains);
  // Adds the leaves of n trees, in order, to the sums of kForestRows rows. `block` stores the codes
  // by feature.
  void (*add_trees)(int64_t n,
                    const ByteTree* trees,
                    const ByteNode* nodes,
                    const float* leaves,
                    const uint8_t* block,
                    float* sums);
  // Returns the sum of the logistic losses of n logits x whose labels are probabilities. Also
  // computes the first and second derivative of each loss times `part`. All instruction sets give
  // the same bits.
  double (*logistic)(int64_t n,
                     const float* x,
                     const float* labels,
                     float part,
                     float* gradients,
                     float* hessians);
};

// to[k][at + i] = rows[i][k] for n rows of `columns` numbers of 4 bytes (turn4) or 8 bytes.
struct RowKernels {
  void (*turn4)(int64_t n, int64_t columns, const char* const* rows, char* const* to, int64_t at);
  void (*turn8)(int64_t n, int64_t columns, const char* const* rows, char* const* to, int64_t at);
};

struct Kernels {
  const char* isa;  // "base", "avx2" or "avx512"; "neon" is the base set on arm64
  const GemmKernels* gemm;
  const DenseKernels* dense;
  const UpdateKernels* updates;
  const HistogramKernels* histograms;
  const RowKernels* rows;
};

// The best table that this machine can run. The environment variable RUNHOOKS_ISA (base, avx2 or
// avx512) selects a lower one; it is read once.
const Kernels& kernels() noexcept;
// The table named by `wanted` (may be null), or the best table below it.
const Kernels& choose_kernels(const char* wanted) noexcept;
// The table of this name; null if the build or the machine lacks it.
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
