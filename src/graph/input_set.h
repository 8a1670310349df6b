// InputSet, a set of input indices of an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runhooks {

// The first 64 inputs are bits of one integer, so most operations need no allocation. Operations
// such as add_n() and concat() may have more.
class InputSet {
 public:
  void insert(int i) {
    if (i < kWord) {
      first_ |= bit(i);
      return;
    }
    const size_t word = place(i);
    if (word >= rest_.size()) rest_.resize(word + 1, 0);
    rest_[word] |= bit(i);
  }
  void insert(const InputSet& others) {
    first_ |= others.first_;
    if (others.rest_.size() > rest_.size()) rest_.resize(others.rest_.size(), 0);
    for (size_t word = 0; word < others.rest_.size(); ++word) rest_[word] |= others.rest_[word];
  }
  bool contains(int i) const {
    if (i < kWord) return (first_ & bit(i)) != 0;
    const size_t word = place(i);
    return word < rest_.size() && (rest_[word] & bit(i)) != 0;
  }
  bool is_subset_of(const InputSet& other) const {
    if ((first_ & ~other.first_) != 0) return false;
    for (size_t word = 0; word < rest_.size(); ++word) {
      const uint64_t others = word < other.rest_.size() ? other.rest_[word] : 0;
      if ((rest_[word] & ~others) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr int kWord = 64;
  static uint64_t bit(int i) { return uint64_t{1} << (i % kWord); }
  static size_t place(int i) { return static_cast<size_t>(i / kWord - 1); }
  uint64_t first_ = 0;
  std::vector<uint64_t> rest_;
};

}  // namespace runhooks
