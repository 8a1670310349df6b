// PerString: caches a value for each string of a dictionary.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

template <typename T>
class PerString {
 public:
  // Returns the values of all strings, indexed by code. Calls `compute(text)` for strings that were
  // added to the dictionary since the last call.
  template <typename Compute>
  const T* values_by_code(const std::shared_ptr<StringDictionary>& dictionary, Compute compute) {
    if (dictionary != dictionary_) {
      dictionary_ = dictionary;
      values_.clear();
    }
    const auto size = static_cast<size_t>(dictionary ? dictionary->size() : 0);
    while (values_.size() < size) {
      values_.push_back(compute(dictionary->at(static_cast<int32_t>(values_.size()))));
    }
    return values_.data();
  }

 private:
  std::shared_ptr<StringDictionary> dictionary_;
  std::vector<T> values_;
};

}  // namespace runhooks
