// ApplyInputs: gives an update rule access to the inputs of its op.
#pragma once

#include <algorithm>

#include "base/inline.h"
#include "graph/kernel.h"
#include "graph/op_registry.h"
#include "graph/variable.h"

namespace runhooks {

// The inputs are `num_refs` variables (the trained one and its slots), then scalars and the
// gradient. In a sparse update, the row indices follow the gradient, and the rule sees one row at a
// time. The indices are not counted in input numbers, so dense and sparse rules use the same ones.
template <typename T>
class ApplyInputs {
 public:
  static constexpr int kMaxVariables = 4;
  ApplyInputs(KernelContext& c, int num_refs)
      : c_(c), n_(state(0).value().num_elements()), num_variables_(num_refs) {
    for (int i = 0; i < num_refs; ++i) {
      if (state(i).value().num_elements() != n_) {
        invalid_argument("'", state(i).name(), "' must have as many elements as '", state(0).name(),
                         "'.");
      }
      variables_[i] = state(i).value().template data<T>();
    }
  }
  // Number of elements of the current row or range, or of the whole variable.
  int64_t size() const { return n_; }
  T* variable(int i) const { return variables_[i] + offset_; }
  T scalar(int i) const { return *c_.input(input_number(i)).template data<T>(); }
  int64_t whole_scalar(int i) const { return *c_.input(input_number(i)).template data<int64_t>(); }
  const T* gradient(int i) const {
    if (gathered_) return gathered_;
    if (c_.input(i).num_elements() != (expected_gradient_ < 0 ? n_ : expected_gradient_)) {
      invalid_argument("The gradient has shape ", c_.input(i).shape(),
                       ", but the variable has shape ", state(0).value().shape(), ".");
    }
    return c_.input(i).template data<T>() + gradient_offset_;
  }
  const Operation& op() const { return c_.op(); }

  // Restricts the view to elements [first, first + n) of the variable and the gradient.
  void select_range(int64_t first, int64_t n) {
    expected_gradient_ = n_;
    offset_ = gradient_offset_ = first;
    n_ = n;
  }

  // Replaces the variables and the gradient by arrays gathered from several updates. Scalars are
  // unchanged.
  void use_gathered(T* const* variables, const T* gradient, int64_t n) {
    std::copy(variables, variables + num_variables_, variables_);
    gathered_ = gradient;
    n_ = n;
  }

  // --- sparse updates; `at` is the input that holds the indices
  void begin_rows(int at) {
    indices_at_ = at;
    const Shape& shape = state(0).value().shape();
    rows_ = shape.rank() > 0 ? shape.dim(0) : 0;
    n_ = rows_ > 0 ? n_ / rows_ : 0;
    const Tensor& indices = c_.input(at);
    num_rows_ = indices.num_elements();
    expected_gradient_ = num_rows_ * n_;
    indices32_ = indices.dtype() == DType::kInt32 ? indices.template data<int32_t>() : nullptr;
    indices64_ = indices32_ ? nullptr : indices.template data<int64_t>();
  }
  int64_t num_rows() const { return num_rows_; }
  void select_row(int64_t i) {
    const int64_t row = indices32_ ? indices32_[i] : indices64_[i];
    if (row < 0 || row >= rows_) {
      invalid_argument("indices[", i, "] = ", row, " is not in [0, ", rows_, ") of '",
                       state(0).name(), "'.");
    }
    offset_ = row * n_;
    gradient_offset_ = i * n_;
    if (i == 0) {
      for (int64_t first = 1; first < prefetch_distance_; ++first) prefetch(first);
    }
    prefetch(i + prefetch_distance_);
  }
  // Sets the prefetch distance in rows.
  void set_prefetch_distance(int64_t rows) { prefetch_distance_ = rows; }
  // True if the producer of the indices guarantees that they are unique.
  bool has_distinct_rows() const { return op().input(indices_at_).op->def().has_distinct_rows; }
  // Number of elements of the whole variable.
  int64_t whole_size() const { return n_ * rows_; }

 private:
  RUNHOOKS_INLINE void prefetch(int64_t i) const {
    if (i >= num_rows_) return;
    const int64_t row = indices32_ ? indices32_[i] : indices64_[i];
    if (row < 0 || row >= rows_) return;  // select_row() reports it later
    const int64_t end = std::min(n_, kPrefetchedLines * kPerLine);
    for (int k = 0; k < num_variables_; ++k) {
      for (int64_t j = 0; j < end; j += kPerLine) {
        __builtin_prefetch(variables_[k] + row * n_ + j, 1);
      }
    }
  }
  int input_number(int i) const { return indices_at_ >= 0 && i >= indices_at_ ? i + 1 : i; }
  VariableState& state(int i) const {
    auto& found = c_.input_resource<VariableState>(i);
    if (!found.is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ", found.name(), ".");
    }
    return found;
  }
  KernelContext& c_;
  int64_t n_, rows_ = 0, num_rows_ = 0, offset_ = 0, gradient_offset_ = 0, expected_gradient_ = -1;
  // Rows are scattered over a large variable, so they are prefetched. Of long rows, only the first
  // cache lines are requested; the hardware prefetcher then detects the sequential access.
  static constexpr int64_t kPerLine = 64 / sizeof(T), kPrefetchedLines = 4;
  int64_t prefetch_distance_ = 24;
  int num_variables_, indices_at_ = -1;
  const int32_t* indices32_ = nullptr;
  const int64_t* indices64_ = nullptr;
  T* variables_[kMaxVariables] = {};
  const T* gathered_ = nullptr;
};

}  // namespace runhooks
