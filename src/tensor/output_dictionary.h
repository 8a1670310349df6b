// OutputDictionary: the dictionary for strings that a kernel outputs.
#pragma once

#include <algorithm>
#include <memory>

#include "tensor/string_dictionary.h"

namespace runhooks {

// Kernels use the same dictionary in each run, so that consumers can cache results per string. It
// is replaced when it has many more strings than one output has elements.
class OutputDictionary {
 public:
  // Returns the dictionary for an output of n elements.
  const std::shared_ptr<StringDictionary>& for_elements(int64_t n) {
    constexpr int64_t kMaxReusedStrings = 4096;
    if (!dictionary_ || dictionary_->size() > std::max(kMaxReusedStrings, 4 * n)) {
      dictionary_ = std::make_shared<StringDictionary>();
    }
    return dictionary_;
  }

 private:
  std::shared_ptr<StringDictionary> dictionary_;
};

}  // namespace runhooks
