#include "tensor/string_dictionary.h"

namespace runhooks {

int32_t StringDictionary::find(std::string_view text) const {
  const int32_t n = size();
  if (n > kMaxLinearSearch) {
    const auto entry = index_.find(text);
    return entry == index_.end() ? -1 : entry->second;
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
  const std::lock_guard<std::mutex> lock(mutex_);
  const int32_t existing = find(text);
  if (existing >= 0) return existing;
  const int32_t code = size();
  const uint32_t position = static_cast<uint32_t>(code) + kFirstChunkSize;
  const int log2_size = 31 - __builtin_clz(position);
  std::unique_ptr<std::string[]>& chunk = chunks_[log2_size - kFirstChunkLog2];
  if (!chunk) chunk.reset(new std::string[size_t{1} << log2_size]);
  chunk[position - (1u << log2_size)].assign(text);
  size_.store(code + 1, std::memory_order_release);
  if (code + 1 > kMaxLinearSearch) index_up_to(code + 1);
  return code;
}

}  // namespace runhooks
