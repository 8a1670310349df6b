#include "data/element_queue.h"

namespace runhooks {

namespace {

std::string place(size_t i) { return str_cat(static_cast<unsigned long>(i), "/"); }

}  // namespace

Element ElementQueue::pop() {
  Element first = std::move(elements_.front());
  elements_.pop_front();
  return first;
}

NamedTensors ElementQueue::save() const {
  NamedTensors state = {{"size", Tensor::scalar(static_cast<int64_t>(elements_.size()))}};
  for (size_t i = 0; i < elements_.size(); ++i) {
    const Element& element = elements_[i];
    NamedTensors part = {{"rows_seen", Tensor::scalar(element.rows_seen)},
                         {"epoch", Tensor::scalar(element.epoch)}};
    for (size_t k = 0; k < element.components.size(); ++k) {
      part[str_cat("component_", static_cast<unsigned long>(k))] = element.components[k];
    }
    add_subtree(state, place(i), part);
  }
  return state;
}

Components ElementQueue::read_components(const NamedTensors& state) const {
  Components components;
  for (size_t k = 0; k < dtypes_.size(); ++k) {
    const auto found = state.find(str_cat("component_", static_cast<unsigned long>(k)));
    const bool fits = found != state.end() && found->second.dtype() == dtypes_[k] &&
                      shapes_[k].is_compatible_with(found->second.shape());
    if (!fits) {
      fail(Code::kDataLoss, "A queued element has no component ", static_cast<unsigned long>(k),
           " of type ", dtype_name(dtypes_[k]), " and shape ", shapes_[k], ".");
    }
    components.push_back(found->second);
  }
  return components;
}

void ElementQueue::restore(const NamedTensors& state) {
  std::deque<Element> elements;
  const int64_t size = state_integer(state, "size");
  // each has tensors of its own
  if (size < 0 || static_cast<size_t>(size) > state.size()) {
    fail(Code::kDataLoss, "There cannot be ", size, " queued elements.");
  }
  for (size_t i = 0; i < static_cast<size_t>(size); ++i) {
    const NamedTensors part = subtree(state, place(i));
    elements.push_back(
        {read_components(part), state_integer(part, "rows_seen"), state_integer(part, "epoch")});
  }
  elements_ = std::move(elements);
}

}  // namespace runhooks
