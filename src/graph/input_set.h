// InputSet: a set of input positions of an operation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runhooks {

// A bit set. Inputs 0 to 63 are in a member, so that most sets need no allocation; only variadic
// ops such as AddN have more inputs.
class InputSet {
 public:
  void insert(int i) {
    if (i < kBitsPerWord) {
      first_word_ |= bit(i);
      return;
    }
    const size_t word = word_index(i);
    if (word >= more_words_.size()) more_words_.resize(word + 1, 0);
    more_words_[word] |= bit(i);
  }
  void insert(const InputSet& other) {
    first_word_ |= other.first_word_;
    if (other.more_words_.size() > more_words_.size()) {
      more_words_.resize(other.more_words_.size(), 0);
    }
    for (size_t word = 0; word < other.more_words_.size(); ++word) {
      more_words_[word] |= other.more_words_[word];
    }
  }
  bool contains(int i) const {
    if (i < kBitsPerWord) return (first_word_ & bit(i)) != 0;
    const size_t word = word_index(i);
    return word < more_words_.size() && (more_words_[word] & bit(i)) != 0;
  }
  bool is_subset_of(const InputSet& other) const {
    if ((first_word_ & ~other.first_word_) != 0) return false;
    for (size_t word = 0; word < more_words_.size(); ++word) {
      const uint64_t allowed = word < other.more_words_.size() ? other.more_words_[word] : 0;
      if ((more_words_[word] & ~allowed) != 0) return false;
    }
    return true;
  }

 private:
  static constexpr int kBitsPerWord = 64;
  static uint64_t bit(int i) { return uint64_t{1} << (i % kBitsPerWord); }
  static size_t word_index(int i) { return static_cast<size_t>(i / kBitsPerWord - 1); }
  uint64_t first_word_ = 0;
  std::vector<uint64_t> more_words_;
};

}  // namespace runhooks
