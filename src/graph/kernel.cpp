#include "graph/kernel.h"

#include <cstring>

#include "graph/operation.h"

namespace runhooks {

void KernelContext::check_output(int i, DType dtype) const {
  if (i < 0 || i >= num_outputs_) {
    invalid_argument("Cannot set output ", i, " of an operation with ", num_outputs_, " outputs.");
  }
  if (op_.output_dtype(i) != dtype) {
    invalid_argument("Output ", i, " is declared as ", dtype_name(op_.output_dtype(i)),
                     ", but its value is ", dtype_name(dtype), ".");
  }
}

Tensor& KernelContext::allocate_output(int i, DType dtype, const Shape& shape) {
  // Checks the type only if the type or shape is new; otherwise it has been checked before.
  if (i < 0 || i >= num_outputs_) check_output(i, dtype);  // throws
  Slot& slot = outputs_[i];
  if (!slot.owned || slot.tensor.dtype() != dtype || slot.tensor.shape() != shape) {
    check_output(i, dtype);
    const Shape new_shape = shape;  // copied, because `shape` may refer to the old tensor's shape
    slot.owned = false;
    slot.tensor = Tensor();  // frees the old memory before the allocation
    slot.tensor = allocator_.allocate(slot, dtype, new_shape);
    slot.owned = true;
    touch_output(i);
  }
  return slot.tensor;
}

void KernelContext::alias_output(int i, const Tensor& tensor) {
  if (i < 0 || i >= num_outputs_) check_output(i, tensor.dtype());
  Slot& slot = outputs_[i];
  if (slot.owned || !slot.tensor.shares_buffer_with(tensor) ||
      slot.tensor.dtype() != tensor.dtype() || slot.tensor.shape() != tensor.shape()) {
    check_output(i, tensor.dtype());
    slot.tensor = tensor;
    slot.owned = false;
    touch_output(i);
  }
}

void KernelContext::copy_to_output(int i, const Tensor& value) {
  if (value.dtype() == DType::kVariant) {
    output(i) = value;
  } else if (value.dtype() == DType::kString) {
    alias_output(i, value);
  } else {
    Tensor& copy = allocate_output(i, value.dtype(), value.shape());
    if (value.num_elements() > 0) std::memcpy(copy.raw(), value.raw(), value.num_bytes());
  }
}

}  // namespace runhooks
