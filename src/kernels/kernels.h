// Numeric kernels: one table of functions per instruction set, and the selection of a table.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace runhooks {

// An implicit matrix of image patches (im2col without the copy) with the elements
// a[rows[i] + offset(p)]. The offsets are concatenated runs; within a run, which has at most
// kMaxRunLength offsets, they are `stride` apart.
struct Run {
  int64_t offset, length;
};
struct GatheredRows {
  const int64_t* rows;
  const Run* runs;
  int64_t num_rows, num_runs, stride;
};
constexpr int64_t kMaxRunLength = 192;

// Matrices are dense and row-major; `threads` is the maximum. Results are bitwise identical for any
// number of threads, but fused multiply-add makes them differ between instruction sets.

// c[m x n] = op(a) op(b), or += if `accumulate`. op() transposes its argument if `trans_a` or
// `trans_b`; op(a) is m x k and op(b) is k x n. c must not overlap a or b, and is read only if
// `accumulate`. In `turned`, `a` points to the first of m adjacent columns of a k x `width`
// matrix, and op(a) is their transpose.
template <typename T>
struct GemmFunctions {
  void (*product)(bool trans_a,
                  bool trans_b,
                  int64_t m,
                  int64_t n,
                  int64_t k,
                  const T* a,
                  const T* b,
                  T* c,
                  bool accumulate,
                  int threads);
  void (*turned)(bool trans_b,
                 int64_t width,
                 int64_t m,
                 int64_t n,
                 int64_t k,
                 const T* a,
                 const T* b,
                 T* c,
                 int threads);
  // c[i] = op(a[i]) op(b[i]) for `count` products of one shape.
  void (*each)(int64_t count,
               bool trans_a,
               bool trans_b,
               int64_t m,
               int64_t n,
               int64_t k,
               const T* const* a,
               const T* const* b,
               T* const* c,
               int threads);
  // c[num_rows x n] = gathered rows * b, or += if `accumulate`, on the calling thread.
  void (*gathered)(
      const GatheredRows& rows, int64_t n, const T* a, const T* b, T* c, bool accumulate);
};

// add_bias: out[i, j] = x[i, j] + bias[j]; out may be x. column_sums: out[j] = sum of x[., j].
// add_all: out[j] = x[0][j] + x[1][j] + ..., added in the order of the `count` vectors, for j in
// [first, first + n). `out` may equal x[0] but must not overlap the other vectors.
template <typename T>
struct DenseFunctions {
  void (*add_bias)(int64_t rows, int64_t cols, const T* x, const T* bias, T* out, int threads);
  void (*column_sums)(int64_t rows, int64_t cols, const T* x, T* out, int threads);
  void (*add_all)(int64_t count, int64_t first, int64_t n, const T* const* x, T* out);
};

// The functions for float and for double; of<T>() selects those of type T.
template <template <typename> class Functions>
struct ByType {
  Functions<float> of_float;
  Functions<double> of_double;
  template <typename T>
  const Functions<T>& of() const noexcept {
    if constexpr (sizeof(T) == sizeof(float)) {
      return of_float;
    } else {
      return of_double;
    }
  }
};
using GemmKernels = ByType<GemmFunctions>;
using DenseKernels = ByType<DenseFunctions>;

// The functions of UpdateKernels do one optimizer step on n contiguous floats. sftrl() requires
// learning_rate_power = -0.5.
struct FtrlRates {
  float lr, l1, l2, l2_shrinkage;
};
// `step` is the learning rate times the bias correction of both moments.
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

// Histograms of boosted trees. A row stores the bins of up to 8 features in kBinRowBytes bytes, or
// of 4 features if bins need 2 bytes. So the histograms fit into the L1 cache. Integer gradients g
// and hessians h are packed as g * 2^32 + h, so that one addition sums both. The sums are exact in
// any order as long as each sum fits into 31 bits.
constexpr int64_t kBinRowBytes = 8;
constexpr int64_t kByteBins = 256;
struct GainRules {
  double gradient, hessian;  // sums over the node that is split
  double l1, l2;
};
// Parameters of pack(). Stochastic rounding of element i uses a hash of first_gradient + i * by, or
// of first_hessian + i * by.
struct PackRules {
  float gradient_scale, hessian_scale;
  uint32_t first_gradient, first_hessian, by;
};
// Elements that partition_rows() and partition_row_ids() may write past the end of `spare`.
constexpr int64_t kPartitionPadding = 16;
// Minimum allocated length of the table of add_from_table(), which may read past `count`.
constexpr int64_t kMinTableLength = 64;
// A perfect binary tree of depth 1 to kMaxByteTreeDepth; node i >= 1 has the children 2i and 2i
// + 1. A row goes right if its code for the node's feature exceeds the threshold.
constexpr int64_t kForestRows = 64;
constexpr int32_t kMaxByteTreeDepth = 8;
struct ByteNode {
  uint32_t first;      // offset in the block of the feature's kForestRows codes
  uint32_t threshold;  // repeated in all 4 bytes, ready to be broadcast to a register
};
constexpr ByteNode byte_node(uint32_t feature, uint8_t threshold) noexcept {
  return {feature * static_cast<uint32_t>(kForestRows), threshold * 0x01010101u};
}
struct ByteTree {
  int32_t depth, first_node, first_leaf;
};
struct HistogramKernels {
  // sums[(f * 256 + bin(i, f)) * logits + k] += packed[i * logits + k] for row i and feature f.
  void (*add8)(int64_t n,
               int64_t features,
               int64_t logits,
               const uint8_t* rows,
               const int64_t* packed,
               int64_t* sums);
  // Like add8(), for features with `bins` bins, which take 2 bytes each.
  void (*add16)(int64_t n,
                int64_t features,
                int64_t bins,
                int64_t logits,
                const uint8_t* rows,
                const int64_t* packed,
                int64_t* sums);
  // Unpacks n sums and adds them to the outputs (or, if `are_first`, stores them); zeroes `sums`.
  void (*flush)(int64_t n, bool are_first, int64_t* sums, int64_t* gradients, int64_t* hessians);
  // Scales, rounds stochastically and packs gradients and hessians. Scaled values must be below
  // 2^30; integers are exact.
  void (*pack)(int64_t n,
               const float* gradients,
               const float* hessians,
               const PackRules* rules,
               int64_t* packed);
  // Returns the bits of the float max |x|. If any x is NaN, they exceed the bits of infinity.
  uint32_t (*largest)(int64_t n, const float* x);
  // to[i] = from[ids[i]], where each element is `logits` numbers.
  void (*gather)(int64_t n, int64_t logits, const uint16_t* ids, const int64_t* from, int64_t* to);
  // out[i] = table[bin at the start of row i].
  void (*look_up8)(int64_t n, const uint8_t* rows, const uint8_t* table, uint8_t* out);
  void (*look_up16)(int64_t n, const uint8_t* rows, const uint8_t* table, uint8_t* out);
  // Stable partition that moves rows (or row ids) with goes_left = 1 to the front and returns their
  // number. `spare` is scratch memory for n + kPartitionPadding elements.
  int64_t (*partition_rows)(int64_t n, const uint8_t* goes_left, uint8_t* rows, uint8_t* spare);
  int64_t (*partition_row_ids)(int64_t n, const uint8_t* goes_left, uint16_t* ids, uint16_t* spare);
  // sums[i] = x[i] + table[which[i]]. The table has `count` numbers; see kMinTableLength.
  void (*add_from_table)(int64_t n,
                     const uint16_t* which,
                     int64_t count,
                     const float* table,
                     const float* x,
                     float* sums);
  // out[i] = number of bounds below x[i], 0 for NaN. The 2^steps - 1 bounds form a binary search
  // tree in heap order: bounds[1] is the root, and bounds[i] has the children 2i and 2i + 1.
  void (*find_bins)(int64_t n, const float* x, int32_t steps, const float* bounds, int32_t* out);
  // codes[i] = min(bins[i], max_bin) + 1, or `missing` if the bin is negative.
  void (*encode)(int64_t n, const int32_t* bins, int32_t max_bin, int32_t missing, uint8_t* codes);
  // Adds the gains of both children of split i to gains[i]. The sums are those of left children.
  void (*add_gains)(int64_t n,
                    const double* gradients,
                    const double* hessians,
                    const GainRules* rules,
                    double* gains);
  // Adds the leaf values of n trees, in this order, to the sums of the kForestRows rows in `block`.
  void (*add_trees)(int64_t n,
                    const ByteTree* trees,
                    const ByteNode* nodes,
                    const float* leaves,
                    const uint8_t* block,
                    float* sums);
  // Returns the sum of the logistic losses of n logits; labels are probabilities. Stores the first
  // and second derivatives of each loss, times `weight`. Bitwise identical on all instruction sets.
  double (*logistic)(int64_t n,
                     const float* x,
                     const float* labels,
                     float weight,
                     float* gradients,
                     float* hessians);
};

// to[k][at + i] = rows[i][k] for n rows of `columns` elements of 4 bytes (transpose4) or 8 (transpose8).
struct RowKernels {
  void (*transpose4)(int64_t n, int64_t columns, const char* const* rows, char* const* to, int64_t at);
  void (*transpose8)(int64_t n, int64_t columns, const char* const* rows, char* const* to, int64_t at);
};

struct Kernels {
  const char* isa;  // "base", "avx2", "avx512" (dense layers only); "neon" is the base set of arm64
  const GemmKernels* gemm;
  const DenseKernels* dense;
  const UpdateKernels* updates;
  const HistogramKernels* histograms;
  const RowKernels* rows;
};

// Returns the kernels for the widest instruction set of this machine, or for a narrower one that
// the environment variable RUNHOOKS_ISA=base|avx2|avx512 selects. The variable is read once.
const Kernels& kernels() noexcept;
// Returns the table named `requested` or, if this machine does not support it, the next narrower
// one. Returns the default if `requested` is null or unknown.
const Kernels& choose_kernels(const char* requested) noexcept;
// Returns the table with this name; null if the build does not contain it or the machine does not
// support it.
const Kernels* find_kernels(const char* isa) noexcept;

}  // namespace runhooks
