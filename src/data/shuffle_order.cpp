#include "data/shuffle_order.h"

namespace runhooks {

RandomStream ShuffleOrder::own_stream() {
  if (!reshuffles_) return RandomStream(parent_.seeds());
  const uint64_t seed = parent_.next();
  return RandomStream({seed, parent_.next()});
}

void ShuffleOrder::rewind() {
  own_ = own_stream();
  buffer_.clear();
  first_ = last_ = 0;
}

std::vector<int64_t> ShuffleOrder::numbers() const {
  std::vector<int64_t> all;
  for (int64_t i = first_; i < last_; ++i) all.push_back(buffer_[place(i)]);
  return all;
}

NamedTensors ShuffleOrder::save() const {
  NamedTensors state;
  add_subtree(state, "parent/", parent_.save());
  add_subtree(state, "random/", own_.save());
  return state;
}

void ShuffleOrder::restore(const NamedTensors& state, std::vector<int64_t> numbers) {
  const RandomStream parent = RandomStream::restored(subtree(state, "parent/")),
                     own = RandomStream::restored(subtree(state, "random/"));
  const auto waiting = static_cast<int64_t>(numbers.size());
  parent_ = parent;
  own_ = own;
  buffer_ = std::move(numbers);
  first_ = 0;
  last_ = waiting;
}

}  // namespace runhooks
