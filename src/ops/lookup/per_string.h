// PerString: a cache of a value for each distinct string of a dictionary.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

template <typename T>
class PerString {
 public:
  // The values of all strings by code. Calls `of(text)` for strings added since the last call.
  template <typename Of>
  const T* table(const std::shared_ptr<StringDictionary>& dictionary, Of of) {
    if (dictionary != dictionary_) {
      dictionary_ = dictionary;
      values_.clear();
    }
    const auto size = static_cast<size_t>(dictionary ? dictionary->size() : 0);
    while (values_.size() < size) {
      values_.push_back(of(dictionary->at(static_cast<int32_t>(values_.size()))));
    }
    return values_.data();
  }

 private:
  std::shared_ptr<StringDictionary> dictionary_;
  std::vector<T> values_;
};

}  // namespace runhooks
