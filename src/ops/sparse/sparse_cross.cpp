#include <algorithm>
#include <limits>
#include <numeric>

#include "base/fingerprint.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

// The hashes of the values of one key (a column to cross). Row r has the hashes from
// row_begins[r] up to row_begins[r + 1] (exclusive).
struct KeyRows {
  std::vector<uint64_t> hashes;
  std::vector<size_t> row_begins;
  size_t count(size_t row) const { return row_begins[row + 1] - row_begins[row]; }
};

uint64_t hash_of(const Tensor& x, int64_t i) {
  if (x.dtype() == DType::kString) return fingerprint64(x.string_at(i));
  return static_cast<uint64_t>(x.dtype() == DType::kInt32 ? x.data<int32_t>()[i]
                                                          : x.data<int64_t>()[i]);
}

class SparseCrossKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    if (!c.op().attr_bool("hashed_output")) {
      fail(Code::kUnimplemented, "SparseCross without hashed_output is not implemented.");
    }
    const auto n = static_cast<int>(c.op().attr_int("N"));
    const int num_dense = c.num_inputs() - 3 * n;
    const int64_t rows = num_rows(c, n, num_dense);
    keys_.resize(static_cast<size_t>(n + num_dense));
    for (int k = 0; k < n; ++k) read_sparse(c.input(k), c.input(n + k), rows, key(k));
    for (int k = 0; k < num_dense; ++k) read_dense(c.input(3 * n + k), rows, key(n + k));
    const auto buckets = static_cast<uint64_t>(c.op().attr_int("num_buckets"));
    modulus_ = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
    cross_counts_.resize(static_cast<size_t>(rows));
    int64_t total = 0, max_count = 0;
    for (size_t r = 0; r < cross_counts_.size(); ++r) {
      cross_counts_[r] = num_crosses(r);
      total = checked_product(total + cross_counts_[r], 1);
      max_count = std::max(max_count, cross_counts_[r]);
    }
    auto* indices = c.allocate_output(0, DType::kInt64, Shape{total, 2}).data<int64_t>();
    auto* values = c.allocate_output(1, DType::kInt64, Shape{total}).data<int64_t>();
    auto* shape = c.allocate_output(2, DType::kInt64, Shape{2}).data<int64_t>();
    const auto hash_key = static_cast<uint64_t>(c.op().attr_int("hash_key"));
    for (size_t r = 0; r < cross_counts_.size(); ++r) {
      if (cross_counts_[r] == 0) continue;
      values = write_crosses(0, r, hash_key, values);
      for (int64_t i = 0; i < cross_counts_[r]; ++i) {
        *indices++ = static_cast<int64_t>(r);
        *indices++ = i;
      }
    }
    shape[0] = rows;
    shape[1] = max_count;
  }

 private:
  static int64_t num_rows(const KernelContext& c, int n, int num_dense) {
    const int64_t rows = n > 0           ? c.input(2 * n).data<int64_t>()[0]
                         : num_dense > 0 ? c.input(0).shape().dim(0)
                                         : 0;
    if (rows < 0) invalid_argument("The shape of a sparse key begins with ", rows, ".");
    check_memory(rows, sizeof(uint64_t) * static_cast<size_t>(n + num_dense + 1));
    for (int k = 0; k < num_dense; ++k) {
      if (c.input(3 * n + k).shape().dim(0) != rows) {
        invalid_argument("The keys of a cross must have the same number of rows, not ", rows,
                         " and ", c.input(3 * n + k).shape().dim(0), ".");
      }
    }
    return rows;
  }
  KeyRows& key(int k) { return keys_[static_cast<size_t>(k)]; }
  // Groups values by row with a counting sort, which keeps their order within a row.
  static void read_sparse(const Tensor& indices, const Tensor& values, int64_t rows, KeyRows& key) {
    const int64_t n = values.num_elements(), rank = indices.shape().dim(1);
    const auto* row_of = indices.data<int64_t>();
    key.row_begins.assign(static_cast<size_t>(rows) + 2, 0);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t row = row_of[i * rank];
      if (row < 0 || row >= rows) {
        invalid_argument("Row ", row, " of a key is not in [0, ", rows, ").");
      }
      ++key.row_begins[static_cast<size_t>(row) + 2];
    }
    std::partial_sum(key.row_begins.begin(), key.row_begins.end(), key.row_begins.begin());
    key.hashes.resize(static_cast<size_t>(n));
    // In this loop, row_begins[r + 1] is the next write position of row r. It ends as the start of
    // row r + 1.
    for (int64_t i = 0; i < n; ++i) {
      key.hashes[key.row_begins[static_cast<size_t>(row_of[i * rank]) + 1]++] = hash_of(values, i);
    }
  }
  static void read_dense(const Tensor& x, int64_t rows, KeyRows& key) {
    const auto width = static_cast<size_t>(rows > 0 ? x.num_elements() / rows : 0);
    key.row_begins.resize(static_cast<size_t>(rows) + 1);
    for (size_t r = 0; r < key.row_begins.size(); ++r) key.row_begins[r] = r * width;
    key.hashes.resize(static_cast<size_t>(rows) * width);
    for (size_t i = 0; i < key.hashes.size(); ++i) {
      key.hashes[i] = hash_of(x, static_cast<int64_t>(i));
    }
  }
  int64_t num_crosses(size_t row) const {
    int64_t n = 1;
    for (const KeyRows& key : keys_) n = checked_product(n, static_cast<int64_t>(key.count(row)));
    return n;
  }
  // Throws if the product exceeds the maximum number of elements.
  static int64_t checked_product(int64_t a, int64_t b) {
    return b == 0 || a <= Shape::kMaxElements / b ? a * b : Shape{a, b}.num_elements();
  }
  int64_t* write_crosses(size_t k, size_t row, uint64_t hash, int64_t* to) const {
    const KeyRows& key = keys_[k];
    const bool is_last = k + 1 == keys_.size();
    for (size_t i = key.row_begins[row]; i < key.row_begins[row + 1]; ++i) {
      const uint64_t combined_hash = fingerprint_cat64(hash, key.hashes[i]);
      if (is_last) {
        *to++ = static_cast<int64_t>(combined_hash % modulus_);
      } else {
        to = write_crosses(k + 1, row, combined_hash, to);
      }
    }
    return to;
  }

  std::vector<KeyRows> keys_;
  std::vector<int64_t> cross_counts_;  // of each row
  uint64_t modulus_ = 0;
};

// The inputs are the indices [n, rank] of N keys, their values [n], their shapes [rank], and dense
// keys.
void sparse_cross_shape(ShapeContext& c) {
  const auto n = static_cast<int>(c.op().attr_int("N"));
  for (const char* list : {"sparse_types", "dense_types"}) {
    for (DType type : c.op().attr<std::vector<DType>>(list)) {
      if (type == DType::kString || type == DType::kInt64 || type == DType::kInt32) continue;
      invalid_argument("The keys of a cross must be strings or integers, not ", dtype_name(type),
                       ".");
    }
  }
  if (c.op().attr<std::vector<DType>>("sparse_types").size() != static_cast<size_t>(n)) {
    invalid_argument("There must be values for each of the ", n, " sparse keys of a cross.");
  }
  for (int k = 0; k < n; ++k) {
    const Shape indices = c.with_rank(k, 2);
    Shape{indices.dim(0)}.merge_with(c.with_rank(n + k, 1));
    Shape{indices.dim(1)}.merge_with(c.with_rank(2 * n + k, 1));
  }
  c.set_output(0, Shape{-1, 2});
  c.set_output(1, Shape::unknown_of_rank(1));
  c.set_output(2, Shape{2});
}

}  // namespace

RUNHOOKS_REGISTER_OP("SparseCross")
    .input("indices: N * int64, rank 2")
    .input("values: sparse_types, vector")
    .input("shapes: N * int64, vector, not empty")
    .input("dense_inputs: dense_types, rank 2")
    .output("output_indices: int64")
    .output("output_values: out_type")
    .output("output_shape: int64")
    .attr("N: int >= 0")
    .attr("hashed_output: bool")
    .attr("num_buckets: int >= 0")
    .attr("hash_key: int")
    .attr("sparse_types: list(type)")
    .attr("dense_types: list(type)")
    .attr("out_type: {int64}")
    .attr("internal_type: {int64, string}")
    .shape(sparse_cross_shape)
    .kernel(kernel_of<SparseCrossKernel>())
    .stateful()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.SparseCross")
    .summary("The hash of each combination of the values of sparse and dense keys.");

}  // namespace runhooks
