#include "tensor/string_dictionary.h"

namespace runhooks {

int32_t StringDictionary::find(std::string_view text) const {
  const int32_t n = size();
  if (n > kIndexed) {
    const auto found = index_.find(text);
    return found == index_.end() ? -1 : found->second;
  }
  for (int32_t i = 0; i < n; ++i) {
    if (at(i) == text) return i;
  }
  return -1;
}

void StringDictionary::index_up_to(int32_t size) {
  for (auto i = static_cast<int32_t>(index_.size()); i < size; ++i) index_.emplace(at(i), i);
}

int32_t StringDictionary::code(std::string_view text) {
  const std::lock_guard<std::mutex> one(mutex_);
  const int32_t known = find(text);
  if (known >= 0) return known;
  const int32_t code = size();
  const uint32_t place = static_cast<uint32_t>(code) + kFirst;
  const int power = 31 - __builtin_clz(place);
  std::unique_ptr<std::string[]>& chunk = chunks_[power - kFirstPower];
  if (!chunk) chunk.reset(new std::string[size_t{1} << power]);
  chunk[place - (1u << power)].assign(text);
  size_.store(code + 1, std::memory_order_release);
  if (code + 1 > kIndexed) index_up_to(code + 1);
  return code;
}

}  // namespace runhooks
