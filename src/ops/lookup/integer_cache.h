// What lives here: PerInteger, a value computed once for each distinct integer that turns up.
// Who may use it: ops whose kernels hash or look up integers.
// What it must not know: what is computed, R.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/inline.h"
#include "tensor/tensor.h"

namespace runhooks {

class PerInteger {
 public:
  template <typename Of>
  int64_t get(int64_t key, Of of) {
    if (key >= 0 && key < kDense) {
      const auto at = static_cast<size_t>(key);
      if (at >= size_) grow(at);
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
    if (static_cast<uint64_t>(key) >= size_) return false;
    *value = dense_[static_cast<size_t>(key)];
    return *value != kNone;
  }
  // Says that `key` is asked for soon.
  RUNHOOKS_INLINE void prefetch(int64_t key) const {
    if (static_cast<uint64_t>(key) < size_) __builtin_prefetch(dense_ + key);
  }

 private:
  void grow(size_t at) {
    size_t size = 1024;
    while (size <= at) size *= 2;
    Tensor grown(DType::kInt32, Shape{static_cast<int64_t>(size)});
    auto* values = grown.data<int32_t>();
    std::fill(std::copy(dense_, dense_ + size_, values), values + size, kNone);
    memory_ = grown;
    dense_ = values;
    size_ = size;
  }
  // Small keys are kept in a row, others in a map that is not allowed to grow for ever.
  static constexpr int64_t kDense = int64_t{1} << 22;
  static constexpr int32_t kNone = INT32_MIN;
  static constexpr size_t kMaxSparse = size_t{1} << 20;
  Tensor memory_;  // large ones have huge pages
  int32_t* dense_ = nullptr;
  size_t size_ = 0;
  std::unordered_map<int64_t, int64_t> sparse_;
};

}  // namespace runhooks
