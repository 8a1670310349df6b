// StringDictionary: maps the int32 codes in string tensors to strings.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runhooks {

// Strings are never removed or moved, so codes stay valid, and results can be cached by code.
// Thread-safe.
class StringDictionary {
 public:
  StringDictionary() = default;
  StringDictionary(const StringDictionary&) = delete;
  StringDictionary& operator=(const StringDictionary&) = delete;

  // Returns the code of a string. Adds the string if it is missing.
  int32_t code(std::string_view text);
  // Returns the string of a code.
  const std::string& at(int32_t code) const {
    const uint32_t position = static_cast<uint32_t>(code) + kFirstChunkSize;
    const int log2_size = 31 - __builtin_clz(position);
    return chunks_[log2_size - kFirstChunkLog2][position - (1u << log2_size)];
  }
  int32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  // The first chunk is small, because many dictionaries have a single string; each chunk doubles
  // the previous size.
  static constexpr int kFirstChunkLog2 = 2, kMaxChunks = 30;
  static constexpr uint32_t kFirstChunkSize = 1u << kFirstChunkLog2;
  // Dictionaries up to this size are searched linearly, larger ones with index_.
  static constexpr int32_t kMaxLinearSearch = 8;

  int32_t find(std::string_view text) const;
  void index_up_to(int32_t size);

  std::mutex mutex_;
  std::atomic<int32_t> size_{0};
  std::unique_ptr<std::string[]> chunks_[kMaxChunks];
  std::unordered_map<std::string_view, int32_t> index_;
};

}  // namespace runhooks
