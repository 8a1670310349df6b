// The dictionary that string tensors share; a string element is an int32 code in it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runhooks {

// Grows only, so a code stays valid and work done per distinct string (hashing, look-up) can be
// kept by code. Several threads may use one: strings never move.
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
  // The first chunk is small, as many dictionaries have one string only; each is twice the one
  // before.
  static constexpr int kFirstPower = 2, kChunks = 30;
  static constexpr uint32_t kFirst = 1u << kFirstPower;
  // So few are compared one by one.
  static constexpr int32_t kIndexed = 8;

  int32_t find(std::string_view text) const;  // -1 where it is not there
  void index_up_to(int32_t size);

  std::mutex mutex_;  // of those who add
  std::atomic<int32_t> size_{0};
  std::unique_ptr<std::string[]> chunks_[kChunks];
  std::unordered_map<std::string_view, int32_t> index_;
};

}  // namespace runhooks
