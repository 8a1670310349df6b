// What lives here: ShuffleOrder, which of the elements that wait in a shuffle's buffer comes next.
// Who may use it: data.
// What it must not know: the elements; it knows numbers that stand for them.
#pragma once

#include <limits>
#include <vector>

#include "data/random_stream.h"

namespace runhooks {

// TensorFlow's order for the same seeds: the drawn element's place is taken by the oldest one.
class ShuffleOrder {
 public:
  // With `reshuffles` each pass has an order of its own.
  ShuffleOrder(Seeds seeds, size_t buffer_size, bool reshuffles)
      : size_(static_cast<int64_t>(buffer_size)),
        reshuffles_(reshuffles),
        parent_(seeds),
        own_(own_stream()) {}

  int64_t waiting() const { return last_ - first_; }
  // How many may be pushed.
  int64_t missing() const { return size_ - waiting(); }
  void push(int64_t number) {
    const size_t to = place(last_++);
    // the buffer grows as far as the data do
    if (to >= buffer_.size()) buffer_.resize(to + 1);
    buffer_[to] = number;
  }
  // Something must be waiting.
  int64_t draw() {
    // 32 bits are divided faster
    const uint32_t random = own_.next();
    const int64_t drawn = waiting() <= std::numeric_limits<uint32_t>::max()
                              ? random % static_cast<uint32_t>(waiting())
                              : random;
    const size_t oldest = place(first_), chosen = place(first_ + drawn);
    const int64_t number = buffer_[chosen];
    buffer_[chosen] = buffer_[oldest];
    if (++first_ == size_) {
      first_ = 0;
      last_ -= size_;
    }
    return number;
  }
  // Everything from the beginning, in the next order.
  void rewind();

  // All that wait, in their order.
  std::vector<int64_t> numbers() const;
  NamedTensors save() const;
  // With the numbers that numbers() gave when it was saved, or others in their place: of no more
  // than fit into the buffer.
  void restore(const NamedTensors& state, std::vector<int64_t> numbers);

 private:
  RandomStream own_stream();
  // Where element number i waits: the buffer is a ring.
  size_t place(int64_t i) const { return static_cast<size_t>(i < size_ ? i : i - size_); }

  int64_t size_;
  bool reshuffles_;
  RandomStream parent_;  // gives the seeds of passes
  RandomStream own_;     // of this pass
  std::vector<int64_t> buffer_;
  int64_t first_ = 0, last_ = 0;  // the elements that wait have the numbers between; first_ < size_
};

}  // namespace runhooks
