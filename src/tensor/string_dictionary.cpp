#include "tensor/string_dictionary.h"

namespace runhooks {

int32_t StringDictionary::code(std::string_view text) {
  auto found = index_.find(text);
  if (found != index_.end()) return found->second;
  const int32_t code = size();
  strings_.emplace_back(text);
  index_.emplace(strings_.back(), code);
  return code;
}

}  // namespace runhooks
