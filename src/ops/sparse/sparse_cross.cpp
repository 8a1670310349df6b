// TensorFlow's SparseCross on its own sparse triples; columns use CrossIds, which is dense.
#include <algorithm>
#include <limits>

#include "base/fingerprint.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

// The values of one key, row by row.
using RowHashes = std::vector<std::vector<uint64_t>>;

uint64_t hash_of(const Tensor& x, int64_t i) {
  if (x.dtype() == DType::kString) return fingerprint64(x.string_at(i));
  return static_cast<uint64_t>(x.dtype() == DType::kInt32 ? x.data<int32_t>()[i]
                                                          : x.data<int64_t>()[i]);
}

class SparseCrossKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    if (!c.op().attr_bool("hashed_output")) {
      fail(Code::kUnimplemented, "SparseCross without hashed_output is not there.");
    }
    const auto n = static_cast<int>(c.op().attr_int("N"));
    const int dense = c.num_inputs() - 3 * n;
    const int64_t rows = rows_of(c, n, dense);
    std::vector<RowHashes> keys;
    for (int k = 0; k < n; ++k) keys.push_back(sparse_rows(c.input(k), c.input(n + k), rows));
    for (int k = 0; k < dense; ++k) keys.push_back(dense_rows(c.input(3 * n + k), rows));
    const auto buckets = static_cast<uint64_t>(c.op().attr_int("num_buckets"));
    limit_ = buckets > 0 ? buckets : std::numeric_limits<int64_t>::max();
    std::vector<std::vector<int64_t>> ids(static_cast<size_t>(rows));
    int64_t total = 0, widest = 0;
    for (size_t r = 0; r < ids.size(); ++r) {
      combine(keys, 0, r, static_cast<uint64_t>(c.op().attr_int("hash_key")), ids[r]);
      total += static_cast<int64_t>(ids[r].size());
      widest = std::max(widest, static_cast<int64_t>(ids[r].size()));
    }
    Tensor& indices = c.allocate_output(0, DType::kInt64, Shape{total, 2});
    Tensor& values = c.allocate_output(1, DType::kInt64, Shape{total});
    Tensor& shape = c.allocate_output(2, DType::kInt64, Shape{2});
    int64_t at = 0;
    for (size_t r = 0; r < ids.size(); ++r) {
      for (size_t i = 0; i < ids[r].size(); ++i, ++at) {
        indices.data<int64_t>()[2 * at] = static_cast<int64_t>(r);
        indices.data<int64_t>()[2 * at + 1] = static_cast<int64_t>(i);
        values.data<int64_t>()[at] = ids[r][i];
      }
    }
    shape.data<int64_t>()[0] = rows;
    shape.data<int64_t>()[1] = widest;
  }

 private:
  static int64_t rows_of(const KernelContext& c, int n, int dense) {
    const int64_t rows = n > 0       ? c.input(2 * n).data<int64_t>()[0]
                         : dense > 0 ? c.input(0).shape().dim(0)
                                     : 0;
    if (rows < 0) invalid_argument("The shape of a sparse key begins with ", rows, ".");
    check_memory(rows, sizeof(std::vector<uint64_t>));
    for (int k = 0; k < dense; ++k) {
      if (c.input(3 * n + k).shape().dim(0) != rows) {
        invalid_argument("The keys of a cross must have the same number of rows, not ", rows,
                         " and ", c.input(3 * n + k).shape().dim(0), ".");
      }
    }
    return rows;
  }
  static RowHashes sparse_rows(const Tensor& indices, const Tensor& values, int64_t rows) {
    RowHashes hashes(static_cast<size_t>(rows));
    for (int64_t i = 0; i < values.num_elements(); ++i) {
      const int64_t row = indices.data<int64_t>()[i * indices.shape().dim(1)];
      if (row < 0 || row >= rows) {
        invalid_argument("Row ", row, " of a key is not in [0, ", rows, ").");
      }
      hashes[static_cast<size_t>(row)].push_back(hash_of(values, i));
    }
    return hashes;
  }
  static RowHashes dense_rows(const Tensor& x, int64_t rows) {
    RowHashes hashes(static_cast<size_t>(rows));
    const int64_t width = rows > 0 ? x.num_elements() / rows : 0;
    for (int64_t i = 0; i < rows * width; ++i) {
      hashes[static_cast<size_t>(i / width)].push_back(hash_of(x, i));
    }
    return hashes;
  }
  void combine(const std::vector<RowHashes>& keys,
               size_t k,
               size_t row,
               uint64_t hash,
               std::vector<int64_t>& ids) const {
    if (k == keys.size()) {
      ids.push_back(static_cast<int64_t>(hash % limit_));
      return;
    }
    for (uint64_t value : keys[k][row]) {
      combine(keys, k + 1, row, fingerprint_cat64(hash, value), ids);
    }
  }
  uint64_t limit_ = 0;
};

// N indices [n, rank], N values [n], N shapes [rank], then what is dense.
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
