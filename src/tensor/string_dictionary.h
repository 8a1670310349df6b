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

// Append-only, so codes stay valid and results per distinct string can be cached by code.
// Thread-safe; strings never move.
class StringDictionary {
 public:
  StringDictionary() = default;
  StringDictionary(const StringDictionary&) = delete;
  StringDictionary& operator=(const StringDictionary&) = delete;

  int32_t code(std::string_view text);
  const std::string& at(int32_t code) const {
    const uint32_t place = static_cast<uint32_t>(code) + kFirst;
    const int power = 31 - __builtin_clz(place);
    return chunks_[power - kFirstPower][place - (1u << power)];
  }
  int32_t size() const { return size_.load(std::memory_order_acquire); }

 private:
  // The first chunk is small, because many dictionaries have a single string; each chunk doubles
  // the previous size.
  static constexpr int kFirstPower = 2, kChunks = 30;
  static constexpr uint32_t kFirst = 1u << kFirstPower;
  // Dictionaries up to this size use linear search.
  static constexpr int32_t kIndexed = 8;

  int32_t find(std::string_view text) const;
  void index_up_to(int32_t size);

  std::mutex mutex_;
  std::atomic<int32_t> size_{0};
  std::unique_ptr<std::string[]> chunks_[kChunks];
  std::unordered_map<std::string_view, int32_t> index_;
};

}  // namespace runhooks
