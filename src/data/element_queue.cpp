#include "data/element_queue.h"

#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

Element ElementQueue::pop() {
  Element first = std::move(elements_.front());
  elements_.pop_front();
  return first;
}

NamedTensors ElementQueue::save() const {
  std::vector<const Components*> components;
  std::vector<int64_t> rows_seen, epochs;
  for (const Element& element : elements_) {
    components.push_back(&element.components);
    rows_seen.push_back(element.rows_seen);
    epochs.push_back(element.epoch);
  }
  NamedTensors state = save_elements(components);
  state["rows_seen"] = Tensor::vector(rows_seen);
  state["epoch"] = Tensor::vector(epochs);
  return state;
}

void ElementQueue::restore(const NamedTensors& state) {
  std::vector<Components> components = read_elements(state, dtypes_, shapes_);
  const std::vector<int64_t> rows_seen = state_integers(state, "rows_seen"),
                             epochs = state_integers(state, "epoch");
  if (rows_seen.size() != components.size() || epochs.size() != components.size()) {
    fail(Code::kDataLoss, "The state of queued elements is damaged.");
  }
  elements_.clear();
  for (size_t i = 0; i < components.size(); ++i) {
    elements_.push_back({std::move(components[i]), rows_seen[i], epochs[i]});
  }
}

}  // namespace runhooks
