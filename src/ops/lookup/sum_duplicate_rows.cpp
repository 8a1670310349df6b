#include <algorithm>
#include <cstring>

#include "graph/op_registry.h"
#include "ops/array/index_reader.h"
#include "ops/lookup/lowering.h"

namespace runhooks {

namespace {

template <typename T>
class SumDuplicateRowsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& values = c.input(0);
    const Indices indices(c.input(1));
    check_indices(indices);
    distinct_rows_.clear();
    slot_of_value_.clear();
    for (int64_t i = 0; i < indices.size(); ++i) slot_of_value_.push_back(slot_for(indices[i]));
    for (int64_t index : distinct_rows_) slot_of_row_[static_cast<size_t>(index)] = -1;
    Shape shape = values.shape();
    const int64_t rows = shape.dim(0), width = rows > 0 ? values.num_elements() / rows : 0;
    shape.set_dim(0, static_cast<int64_t>(distinct_rows_.size()));
    Tensor& sums = c.allocate_output(0, values.dtype(), shape);
    if (sums.num_elements() > 0) std::memset(sums.raw(), 0, sums.num_bytes());
    for (int64_t i = 0; i < rows; ++i) {
      T* to = sums.data<T>() + slot_of_value_[static_cast<size_t>(i)] * width;
      const T* from = values.data<T>() + i * width;
      for (int64_t j = 0; j < width; ++j) to[j] += from[j];
    }
    Tensor& out = c.allocate_output(1, c.input(1).dtype(), Shape{shape.dim(0)});
    for (int64_t i = 0; i < shape.dim(0); ++i) {
      const int64_t index = distinct_rows_[static_cast<size_t>(i)];
      if (out.dtype() == DType::kInt64) {
        out.data<int64_t>()[i] = index;
      } else {
        out.data<int32_t>()[i] = static_cast<int32_t>(index);
      }
    }
  }

 private:
  // Checks all indices first, so that an error leaves slot_of_row_ unchanged.
  void check_indices(const Indices& indices) {
    int64_t max_index = -1;
    for (int64_t i = 0; i < indices.size(); ++i) {
      if (indices[i] < 0) {
        invalid_argument("A sparse gradient has a negative row index: ", indices[i], ".");
      }
      max_index = std::max(max_index, indices[i]);
    }
    if (max_index < 0) return;
    const int64_t rows = sum_of_dims(max_index, 1);
    check_memory(rows, sizeof(int32_t));
    if (static_cast<size_t>(rows) > slot_of_row_.size())
      slot_of_row_.resize(static_cast<size_t>(rows), -1);
  }
  int32_t slot_for(int64_t index) {
    const auto row = static_cast<size_t>(index);
    if (slot_of_row_[row] < 0) {
      slot_of_row_[row] = static_cast<int32_t>(distinct_rows_.size());
      distinct_rows_.push_back(index);
    }
    return slot_of_row_[row];
  }
  std::vector<int32_t> slot_of_row_, slot_of_value_;
  std::vector<int64_t> distinct_rows_;
};

}  // namespace

RUNHOOKS_REGISTER_OP("SumDuplicateRows")
    .input("values: T, rank >= 1")
    .input("indices: Tindices, vector")
    .output("sums: T")
    .output("distinct: Tindices")
    .attr("T: {float, double}")
    .attr("Tindices: {int32, int64}")
    .shape([](ShapeContext& c) {
      Shape sums = c.input(0);
      const Shape indices = c.with_rank(1, 1);
      if (sums.has_rank()) Shape{sums.dim(0)}.merge_with(indices);
      if (sums.has_rank()) sums.set_dim(0, -1);
      c.set_output(0, sums);
      c.set_output(1, Shape::unknown_of_rank(1));
    })
    .kernel(kernel_by_type<SumDuplicateRowsKernel, float, double>())
    .allocates_outputs()
    .distinct_rows()
    .not_differentiable()
    .lower(lower_sum_duplicate_rows)
    .endpoint("raw_ops.SumDuplicateRows")
    .summary("Sums rows with equal indices.")
    .example("f[4,2] i{3,1,3,0}");

}  // namespace runhooks
