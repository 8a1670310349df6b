// What lives here: PerInteger, a value computed once for each distinct integer that turns up.
// Who may use it: ops whose kernels hash or look up integers.
// What it must not know: what is computed, R.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace runhooks {

class PerInteger {
 public:
  template <typename Of>
  int64_t get(int64_t key, Of of) {
    if (key >= 0 && key < kDense) {
      const auto at = static_cast<size_t>(key);
      if (at >= dense_.size()) grow(at);
      if (dense_[at] == kNone) {
        const int64_t value = of(key);
        if (value <= kNone || value > INT32_MAX) return value;
        dense_[at] = static_cast<int32_t>(value);
      }
      return dense_[at];
    }
    auto found = sparse_.find(key);
    if (found != sparse_.end()) return found->second;
    if (sparse_.size() >= kMaxSparse) sparse_.clear();
    return sparse_[key] = of(key);
  }
  // The quick way to the values that are there, of small keys.
  bool known(int64_t key, int64_t* value) const {
    if (static_cast<uint64_t>(key) >= dense_.size()) return false;
    *value = dense_[static_cast<size_t>(key)];
    return *value != kNone;
  }
  // Says that `key` is asked for soon.
  void prefetch(int64_t key) const {
    if (key >= 0 && key < static_cast<int64_t>(dense_.size())) {
      __builtin_prefetch(dense_.data() + key);
    }
  }

 private:
  void grow(size_t at) {
    size_t size = 1024;
    while (size <= at) size *= 2;
    dense_.resize(size, kNone);
  }
  // Small keys are kept in a vector, others in a map that is not allowed to grow for ever.
  static constexpr int64_t kDense = int64_t{1} << 22;
  static constexpr int32_t kNone = INT32_MIN;
  static constexpr size_t kMaxSparse = size_t{1} << 20;
  std::vector<int32_t> dense_;
  std::unordered_map<int64_t, int64_t> sparse_;
};

}  // namespace runhooks
