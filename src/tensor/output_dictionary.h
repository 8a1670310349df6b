// OutputDictionary: the dictionary for strings that a kernel outputs.
#pragma once

#include <algorithm>
#include <memory>

#include "tensor/string_dictionary.h"

namespace runhooks {

// Reused across runs, so that consumers can cache results per string. Replaced when it has many
// more strings than one output needs.
class OutputDictionary {
 public:
  const std::shared_ptr<StringDictionary>& for_elements(int64_t n) {
    constexpr int64_t kKept = 4096;
    if (!dictionary_ || dictionary_->size() > std::max(kKept, 4 * n)) {
      dictionary_ = std::make_shared<StringDictionary>();
    }
    return dictionary_;
  }

 private:
  std::shared_ptr<StringDictionary> dictionary_;
};

}  // namespace runhooks
