#include "graph/kernel.h"

namespace runhooks {

Tensor& KernelContext::allocate_output(int i, DType dtype, const Shape& shape) {
  Slot& slot = outputs_[i];
  if (!slot.owned || slot.tensor.dtype() != dtype || slot.tensor.shape() != shape) {
    const Shape wanted = shape;  // it may be the old tensor's
    slot.owned = slot.fed = false;
    slot.tensor = Tensor();  // gives its memory back first
    slot.tensor = allocator_.allocate(slot, dtype, wanted);
    slot.owned = true;
    touch_output(i);
  }
  return slot.tensor;
}

void KernelContext::alias_output(int i, const Tensor& tensor) {
  Slot& slot = outputs_[i];
  if (slot.owned || !slot.tensor.shares_buffer_with(tensor) ||
      slot.tensor.shape() != tensor.shape()) {
    slot.tensor = tensor;
    slot.owned = slot.fed = false;
    touch_output(i);
  }
}

}  // namespace runhooks
