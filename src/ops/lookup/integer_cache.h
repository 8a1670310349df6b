// PerInteger: caches a value for each distinct integer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/inline.h"
#include "tensor/tensor.h"

namespace runhooks {

class PerInteger {
 public:
  // Returns the value of a key. Calls `compute(key)` if it is not cached.
  template <typename Compute>
  int64_t get(int64_t key, Compute compute) {
    if (key >= 0 && key < kMaxDenseKeys) {
      const auto index = static_cast<size_t>(key);
      if (index >= size_) grow(index);
      if (dense_[index] == kNotCached) {
        const int64_t value = compute(key);
        if (value <= kNotCached || value > INT32_MAX) return value;
        dense_[index] = static_cast<int32_t>(value);
      }
      return dense_[index];
    }
    auto found = sparse_.find(key);
    if (found != sparse_.end()) return found->second;
    if (sparse_.size() >= kMaxSparse) sparse_.clear();
    return sparse_[key] = compute(key);
  }
  // Stores the cached value of a small key. Returns FALSE if the key is large or not cached.
  bool find_small(int64_t key, int64_t* value) const {
    if (static_cast<uint64_t>(key) >= size_) return false;
    *value = dense_[static_cast<size_t>(key)];
    return *value != kNotCached;
  }
  RUNHOOKS_INLINE void prefetch(int64_t key) const {
    if (static_cast<uint64_t>(key) < size_) __builtin_prefetch(dense_ + key);
  }

 private:
  void grow(size_t index) {
    size_t size = 1024;
    while (size <= index) size *= 2;
    Tensor new_storage(DType::kInt32, Shape{static_cast<int64_t>(size)});
    auto* values = new_storage.data<int32_t>();
    std::fill(std::copy(dense_, dense_ + size_, values), values + size, kNotCached);
    storage_ = new_storage;
    dense_ = values;
    size_ = size;
  }
  // Keys below kMaxDenseKeys index an array; other keys are in a map of limited size.
  static constexpr int64_t kMaxDenseKeys = int64_t{1} << 22;
  static constexpr int32_t kNotCached = INT32_MIN;
  static constexpr size_t kMaxSparse = size_t{1} << 20;
  Tensor storage_;  // a tensor, because large tensors have huge pages
  int32_t* dense_ = nullptr;
  size_t size_ = 0;
  std::unordered_map<int64_t, int64_t> sparse_;
};

}  // namespace runhooks
