#include "data/dataset.h"

namespace runhooks {

void ElementSink::copy(int i, const Tensor& value) {
  Tensor& to = allocate(i, value.dtype(), value.shape());
  if (value.dtype() == DType::kString) to.set_dictionary(value.dictionary());
  if (value.num_bytes() > 0) std::memcpy(to.raw(), value.raw(), value.num_bytes());
}

Tensor& ComponentsSink::allocate(int i, DType dtype, const Shape& shape) {
  const auto place = static_cast<size_t>(i);
  if (components_.size() <= place) components_.resize(place + 1);
  components_[place] = Tensor(dtype, shape);
  return components_[place];
}

}  // namespace runhooks
