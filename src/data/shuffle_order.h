// ShuffleOrder: chooses which buffered element of a shuffle is drawn next. Elements are identified
// by numbers.
#pragma once

#include <limits>
#include <vector>

#include "data/random_stream.h"

namespace runhooks {

// Reproduces TensorFlow's order for the same seeds: the oldest element moves into the drawn
// element's slot.
class ShuffleOrder {
 public:
  // If `reshuffles` is true, each pass has a different order.
  ShuffleOrder(Seeds seeds, size_t buffer_size, bool reshuffles)
      : size_(static_cast<int64_t>(buffer_size)),
        reshuffles_(reshuffles),
        seed_stream_(seeds),
        pass_stream_(next_pass_stream()) {}

  int64_t num_buffered() const { return last_ - first_; }
  // Returns how many more elements fit into the buffer.
  int64_t num_free() const { return size_ - num_buffered(); }
  void push(int64_t number) {
    const size_t to = slot_of(last_++);
    // The buffer may be larger than the data, so it grows on demand.
    if (to >= buffer_.size()) buffer_.resize(to + 1);
    buffer_[to] = number;
  }
  // At least one element must be buffered.
  int64_t draw() {
    // A division of 32-bit numbers is faster than one of 64-bit numbers.
    const uint32_t random = pass_stream_.next();
    const int64_t drawn = num_buffered() <= std::numeric_limits<uint32_t>::max()
                              ? random % static_cast<uint32_t>(num_buffered())
                              : random;
    const size_t oldest = slot_of(first_), chosen = slot_of(first_ + drawn);
    const int64_t number = buffer_[chosen];
    buffer_[chosen] = buffer_[oldest];
    if (++first_ == size_) {
      first_ = 0;
      last_ -= size_;
    }
    return number;
  }
  // Starts the next pass with an empty buffer.
  void rewind();

  // Returns the numbers that the caller gave to the buffered elements, in the order of their slots.
  std::vector<int64_t> numbers() const;
  NamedTensors save() const;
  // `numbers` is the result of numbers() when the state was saved, or new numbers of the same
  // elements.
  void restore(const NamedTensors& state, std::vector<int64_t> numbers);

 private:
  RandomStream next_pass_stream();
  // Returns the slot of element number i in the ring buffer.
  size_t slot_of(int64_t i) const { return static_cast<size_t>(i < size_ ? i : i - size_); }

  int64_t size_;
  bool reshuffles_;
  RandomStream seed_stream_;  // provides the seeds of passes
  RandomStream pass_stream_;  // provides the random numbers of the current pass
  std::vector<int64_t> buffer_;
  // The slots of buffered elements are slot_of(first_), ..., slot_of(last_ - 1); first_ < size_.
  int64_t first_ = 0, last_ = 0;
};

}  // namespace runhooks
