// PerInteger: a cache of a value for each distinct integer.
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
  // Fast path for cached values of small keys.
  bool known(int64_t key, int64_t* value) const {
    if (static_cast<uint64_t>(key) >= size_) return false;
    *value = dense_[static_cast<size_t>(key)];
    return *value != kNone;
  }
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
  // Small keys index an array; others go to a map of limited size.
  static constexpr int64_t kDense = int64_t{1} << 22;
  static constexpr int32_t kNone = INT32_MIN;
  static constexpr size_t kMaxSparse = size_t{1} << 20;
  Tensor memory_;  // huge pages if large
  int32_t* dense_ = nullptr;
  size_t size_ = 0;
  std::unordered_map<int64_t, int64_t> sparse_;
};

}  // namespace runhooks
