#include "data/shuffle_order.h"

namespace runhooks {

RandomStream ShuffleOrder::next_pass_stream() {
  if (!reshuffles_) return RandomStream(seed_stream_.seeds());
  const uint64_t seed = seed_stream_.next();
  return RandomStream({seed, seed_stream_.next()});
}

void ShuffleOrder::rewind() {
  pass_stream_ = next_pass_stream();
  buffer_.clear();
  first_ = last_ = 0;
}

std::vector<int64_t> ShuffleOrder::numbers() const {
  std::vector<int64_t> result;
  for (int64_t i = first_; i < last_; ++i) result.push_back(buffer_[slot_of(i)]);
  return result;
}

NamedTensors ShuffleOrder::save() const {
  NamedTensors state;
  add_subtree(state, "parent/", seed_stream_.save());
  add_subtree(state, "random/", pass_stream_.save());
  return state;
}

void ShuffleOrder::restore(const NamedTensors& state, std::vector<int64_t> numbers) {
  const RandomStream seed_stream = RandomStream::restored(subtree(state, "parent/")),
                     pass_stream = RandomStream::restored(subtree(state, "random/"));
  const auto num_buffered = static_cast<int64_t>(numbers.size());
  seed_stream_ = seed_stream;
  pass_stream_ = pass_stream;
  buffer_ = std::move(numbers);
  first_ = 0;
  last_ = num_buffered;
}

}  // namespace runhooks
