// ApplyInputs: gives an update rule access to the inputs of its op.
#pragma once

#include <algorithm>

#include "base/inline.h"
#include "graph/kernel.h"
#include "graph/op_registry.h"
#include "graph/variable.h"

namespace runhooks {

// The inputs of an op are `num_variables` variables (the trained variable and its slots), then
// scalars and the gradient. A sparse update also has row indices after the gradient; the rule sees
// one row at a time. Input numbers do not count the indices, so dense and sparse updates agree.
template <typename T>
class ApplyInputs {
 public:
  static constexpr int kMaxVariables = 4;
  ApplyInputs(KernelContext& c, int num_variables)
      : c_(c), size_(variable_state(0).value().num_elements()), num_variables_(num_variables) {
    for (int i = 0; i < num_variables; ++i) {
      if (variable_state(i).value().num_elements() != size_) {
        invalid_argument("'", variable_state(i).name(), "' must have as many elements as '",
                         variable_state(0).name(), "'.");
      }
      variables_[i] = variable_state(i).value().template data<T>();
    }
  }
  // Number of elements of the selected row or range, or of the whole variable if none is selected.
  int64_t size() const { return size_; }
  T* variable(int i) const { return variables_[i] + offset_; }
  T scalar(int i) const { return *c_.input(input_index(i)).template data<T>(); }
  int64_t int64_scalar(int i) const { return *c_.input(input_index(i)).template data<int64_t>(); }
  const T* gradient(int i) const {
    if (gathered_gradient_) return gathered_gradient_;
    if (c_.input(i).num_elements() !=
        (expected_gradient_size_ < 0 ? size_ : expected_gradient_size_)) {
      invalid_argument("The gradient has shape ", c_.input(i).shape(),
                       ", but the variable has shape ", variable_state(0).value().shape(), ".");
    }
    return c_.input(i).template data<T>() + gradient_offset_;
  }
  const Operation& op() const { return c_.op(); }

  // Restricts the view to elements [first, first + n) of the variable and the gradient.
  void select_range(int64_t first, int64_t n) {
    expected_gradient_size_ = size_;
    offset_ = gradient_offset_ = first;
    size_ = n;
  }

  // Replaces the variables and the gradient by arrays of `n` elements, which were gathered from
  // several updates. Scalars stay the same.
  void use_gathered(T* const* variables, const T* gradient, int64_t n) {
    std::copy(variables, variables + num_variables_, variables_);
    gathered_gradient_ = gradient;
    size_ = n;
  }

  // --- sparse updates; `indices_input` is the input that holds the indices
  void select_indices(int indices_input) {
    indices_input_ = indices_input;
    const Shape& shape = variable_state(0).value().shape();
    num_variable_rows_ = shape.rank() > 0 ? shape.dim(0) : 0;
    size_ = num_variable_rows_ > 0 ? size_ / num_variable_rows_ : 0;
    const Tensor& indices = c_.input(indices_input);
    num_rows_ = indices.num_elements();
    expected_gradient_size_ = num_rows_ * size_;
    indices32_ = indices.dtype() == DType::kInt32 ? indices.template data<int32_t>() : nullptr;
    indices64_ = indices32_ ? nullptr : indices.template data<int64_t>();
  }
  int64_t num_rows() const { return num_rows_; }
  void select_row(int64_t i) {
    const int64_t row = indices32_ ? indices32_[i] : indices64_[i];
    if (row < 0 || row >= num_variable_rows_) {
      invalid_argument("indices[", i, "] = ", row, " is not in [0, ", num_variable_rows_, ") of '",
                       variable_state(0).name(), "'.");
    }
    offset_ = row * size_;
    gradient_offset_ = i * size_;
    if (i == 0) {
      for (int64_t first = 1; first < prefetch_distance_; ++first) prefetch(first);
    }
    prefetch(i + prefetch_distance_);
  }
  // Sets the prefetch distance in rows.
  void set_prefetch_distance(int64_t rows) { prefetch_distance_ = rows; }
  // True if the producer of the indices guarantees that they are unique.
  bool has_distinct_rows() const { return op().input(indices_input_).op->def().has_distinct_rows; }
  // Number of elements of the whole variable.
  int64_t variable_size() const { return size_ * num_variable_rows_; }

 private:
  RUNHOOKS_INLINE void prefetch(int64_t i) const {
    if (i >= num_rows_) return;
    const int64_t row = indices32_ ? indices32_[i] : indices64_[i];
    if (row < 0 || row >= num_variable_rows_) return;  // select_row() throws when it gets there
    const int64_t end = std::min(size_, kPrefetchedLines * kElementsPerLine);
    for (int k = 0; k < num_variables_; ++k) {
      for (int64_t j = 0; j < end; j += kElementsPerLine) {
        __builtin_prefetch(variables_[k] + row * size_ + j, 1);
      }
    }
  }
  int input_index(int i) const { return indices_input_ >= 0 && i >= indices_input_ ? i + 1 : i; }
  VariableState& variable_state(int i) const {
    auto& variable_state = c_.input_resource<VariableState>(i);
    if (!variable_state.is_initialized()) {
      fail(Code::kFailedPrecondition, "Attempting to use uninitialized value ",
           variable_state.name(), ".");
    }
    return variable_state;
  }
  KernelContext& c_;
  int64_t size_, num_variable_rows_ = 0, num_rows_ = 0, offset_ = 0, gradient_offset_ = 0,
                 expected_gradient_size_ = -1;
  // Rows are prefetched, because they are scattered over a large variable. Only the first cache
  // lines of a row are requested: the processor then detects the sequential access.
  static constexpr int64_t kElementsPerLine = 64 / sizeof(T), kPrefetchedLines = 4;
  int64_t prefetch_distance_ = 24;
  int num_variables_, indices_input_ = -1;
  const int32_t* indices32_ = nullptr;
  const int64_t* indices64_ = nullptr;
  T* variables_[kMaxVariables] = {};
  const T* gathered_gradient_ = nullptr;
};

}  // namespace runhooks
