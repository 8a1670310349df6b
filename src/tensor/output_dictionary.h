// OutputDictionary, the strings that a kernel makes.
#pragma once

#include <algorithm>
#include <memory>

#include "tensor/string_dictionary.h"

namespace runhooks {

// The dictionary of the strings that a kernel makes. It is kept from run to run, so that what
// others know of its strings stays good, and begun anew once it has many more than one output
// needs.
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
