// NameTable: maps names of operations and scopes to numbers.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"

namespace runhooks {

enum class Case { kSensitive, kInsensitive };

// A hash table with open addressing. Large graphs have tens of thousands of names, so all names are
// in one string, without an allocation per name.
template <Case kCase>
class NameTable {
 public:
  // Returns NULL if the name does not exist. The pointer is valid until the next insert().
  int* find(std::string_view name) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[slot_index(name, hash_of(name))];
    return slot.is_used ? &slot.number : nullptr;
  }
  const int* find(std::string_view name) const {
    return const_cast<NameTable*>(this)->find(name);  // does not modify the table
  }
  // Returns FALSE without any effect if the name exists.
  bool insert(std::string_view name, int number) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    const uint32_t hash = hash_of(name);
    Slot& slot = slots_[slot_index(name, hash)];
    if (slot.is_used) return false;
    slot = {hash, static_cast<uint32_t>(name.size()), names_.size(), number, true};
    names_.append(name);
    ++size_;
    return true;
  }

 private:
  struct Slot {
    uint32_t hash = 0, length = 0;
    size_t offset = 0;  // of the name in names_
    int number = 0;
    bool is_used = false;
  };
  static constexpr size_t kInitialSize = 64;

  // Hashes eight bytes at a time. Ignores case, so that one function serves both kinds of tables.
  static uint32_t hash_of(std::string_view name) {
    constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u, kCaseBits = 0x2020202020202020u;
    uint64_t hash = name.size();
    for (size_t i = 0; i < name.size(); i += 8) {
      uint64_t word = 0;
      std::memcpy(&word, name.data() + i, name.size() - i < 8 ? name.size() - i : 8);
      hash = (hash ^ (word | kCaseBits)) * kFactor;
      hash ^= hash >> 29;
    }
    return static_cast<uint32_t>((hash * kFactor) >> 32);
  }
  bool has_name(const Slot& slot, std::string_view name) const {
    const char* stored = names_.data() + slot.offset;
    if (kCase == Case::kSensitive) return std::memcmp(stored, name.data(), name.size()) == 0;
    for (size_t i = 0; i < name.size(); ++i) {
      if (ascii_lower(stored[i]) != ascii_lower(name[i])) return false;
    }
    return true;
  }
  // Returns the slot that holds the name, or the free slot in which to insert it.
  size_t slot_index(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t index = hash & mask;
    for (; slots_[index].is_used; index = (index + 1) & mask) {
      const Slot& slot = slots_[index];
      if (slot.hash == hash && slot.length == name.size() && has_name(slot, name)) break;
    }
    return index;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? kInitialSize : 2 * slots_.size());
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (!slot.is_used) continue;
      size_t index = slot.hash & mask;
      while (slots_[index].is_used) index = (index + 1) & mask;
      slots_[index] = slot;
    }
  }

  std::vector<Slot> slots_;  // the size is a power of two; at least half of them are free
  std::string names_;        // all names, concatenated
  size_t size_ = 0;
};

}  // namespace runhooks
