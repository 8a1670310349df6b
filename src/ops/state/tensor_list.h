// What lives here: TensorList, TensorFlow's list of tensors that travels in a variant: what a loop keeps of its iterations.
// Who may use it: ops, control, the bindings.
// What it must not know: loops, sessions, R.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "graph/kernel.h"

namespace runhooks {

// Lists never change. One that is longer by an element shares what it has with the one it was made
// of, so that a loop that appends takes no longer for a long list.
class TensorList {
 public:
  TensorList(DType dtype, Shape element_shape)
      : dtype_(dtype), element_shape_(std::move(element_shape)) {}

  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  size_t size() const { return size_; }
  // Invalid where nobody has set it: zeros.
  const Tensor& element(size_t i) const { return (*elements_)[i]; }

  TensorList resized(size_t size) const;
  TensorList with_pushed(const Tensor& element) const;
  TensorList with_popped() const;
  TensorList with_element(size_t i, const Tensor& element) const;

 private:
  DType dtype_;
  Shape element_shape_;
  // Those behind `size_` belong to longer lists.
  std::shared_ptr<std::vector<Tensor>> elements_ = std::make_shared<std::vector<Tensor>>();
  size_t size_ = 0;
};

Tensor list_tensor(TensorList list);
// Throws where it is none.
const TensorList& list_of_tensor(const Tensor& variant);

// Kernels of ops that take lists, too.
std::unique_ptr<Kernel> make_list_zeros();
std::unique_ptr<Kernel> make_list_sum();

}  // namespace runhooks
