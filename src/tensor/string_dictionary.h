// What lives here: the dictionary that string tensors share; a string element is an int32 code in it.
// Who may use it: every layer.
// What it must not know: tensors, graphs, R.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace runhooks {

// Grows only, so a code stays valid and work done per distinct string (hashing, look-up) can be
// kept by code.
class StringDictionary {
 public:
  int32_t code(std::string_view text);
  const std::string& at(int32_t code) const { return strings_[static_cast<size_t>(code)]; }
  int32_t size() const { return static_cast<int32_t>(strings_.size()); }

 private:
  std::deque<std::string> strings_;  // a deque keeps the views in index_ valid
  std::unordered_map<std::string_view, int32_t> index_;
};

}  // namespace runhooks
