// TensorList: TensorFlow's list of tensors inside a variant, in which a loop stores values per
// iteration.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "graph/kernel.h"

namespace runhooks {

// Lists are immutable. An extended list shares its elements with the original, so a loop appends in
// constant time.
class TensorList {
 public:
  TensorList(DType dtype, Shape element_shape)
      : dtype_(dtype), element_shape_(std::move(element_shape)) {}

  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  size_t size() const { return size_; }
  // Invalid if the element was never set; read as zeros.
  const Tensor& element(size_t i) const { return (*elements_)[i]; }

  TensorList resized(size_t size) const;
  TensorList with_pushed(const Tensor& element) const;
  TensorList with_popped() const;
  TensorList with_element(size_t i, const Tensor& element) const;

 private:
  DType dtype_;
  Shape element_shape_;
  // Elements from `size_` on belong to longer lists.
  std::shared_ptr<std::vector<Tensor>> elements_ = std::make_shared<std::vector<Tensor>>();
  size_t size_ = 0;
};

Tensor list_tensor(TensorList list);
// Throws if the variant holds no list.
const TensorList& list_of_tensor(const Tensor& variant);

// Kernels of ops that also accept lists.
std::unique_ptr<Kernel> make_list_zeros();
std::unique_ptr<Kernel> make_list_sum();

}  // namespace runhooks
