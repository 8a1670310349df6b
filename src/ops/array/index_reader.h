// Indices: reads the elements of an int32 or int64 tensor as int64. read_axis(): reads an axis.
#pragma once

#include "tensor/tensor.h"

namespace runhooks {

class Indices {
 public:
  explicit Indices(const Tensor& tensor)
      : int32_data_(tensor.dtype() == DType::kInt32 ? tensor.data<int32_t>() : nullptr),
        int64_data_(tensor.dtype() == DType::kInt32 ? nullptr : tensor.data<int64_t>()),
        size_(tensor.num_elements()) {}
  int64_t operator[](int64_t i) const { return int32_data_ ? int32_data_[i] : int64_data_[i]; }
  int64_t size() const { return size_; }
  // Returns element i; throws unless it is in [0, limit).
  int64_t checked(int64_t i, int64_t limit) const {
    const int64_t index = (*this)[i];
    if (index < 0 || index >= limit) {
      invalid_argument("indices[", i, "] = ", index, " is not in [0, ", limit, ").");
    }
    return index;
  }

 private:
  const int32_t* int32_data_;
  const int64_t* int64_data_;
  int64_t size_;
};

// Returns a scalar axis as a nonnegative number. A negative axis counts from the end.
inline int read_axis(const Tensor& axis, int rank) {
  const int64_t argument = axis.integers()[0];
  const int64_t nonnegative = argument < 0 ? argument + rank : argument;
  if (nonnegative < 0 || nonnegative >= rank) {
    invalid_argument("Expected axis in the range [", -rank, ", ", rank, "), but got ", argument,
                     ".");
  }
  return static_cast<int>(nonnegative);
}

}  // namespace runhooks
