// TensorList: a list of tensors, such as the values of a loop's iterations. A tensor of type
// variant holds it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "graph/kernel.h"

namespace runhooks {

// Lists are immutable. A list with an appended element shares the other elements with the original,
// so a loop appends in constant time.
class TensorList {
 public:
  TensorList(DType dtype, Shape element_shape)
      : dtype_(dtype), element_shape_(std::move(element_shape)) {}

  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  size_t size() const { return size_; }
  // Returns element i; an invalid Tensor if it was never set. Ops read such an element as zeros.
  const Tensor& element(size_t i) const { return (*elements_)[i]; }

  TensorList resized(size_t size) const;
  TensorList with_pushed(const Tensor& element) const;
  TensorList with_popped() const;
  TensorList with_element(size_t i, const Tensor& element) const;

 private:
  DType dtype_;
  Shape element_shape_;
  // Shared with other lists. Elements from `size_` on belong to longer lists.
  std::shared_ptr<std::vector<Tensor>> elements_ = std::make_shared<std::vector<Tensor>>();
  size_t size_ = 0;
};

// Returns a scalar of type variant that holds the list.
Tensor list_tensor(TensorList list);
// Throws if the variant holds no list.
const TensorList& list_of_tensor(const Tensor& variant);

// Return the kernels of ZerosLike and AddN for lists.
std::unique_ptr<Kernel> make_list_zeros();
std::unique_ptr<Kernel> make_list_sum();

}  // namespace runhooks
