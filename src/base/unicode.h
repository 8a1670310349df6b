// UTF-8 decoding, sets of characters, and Unicode's categories, scripts and case folds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace runhooks {

constexpr int32_t kLastRune = 0x10FFFF;

struct Rune {
  int32_t value;  // code point; -1 for invalid UTF-8
  int length;     // in bytes; 1 for invalid UTF-8
};
// Decodes the character at `at`, which must be before `end`.
Rune rune_at(const char* at, const char* end);
bool is_utf8(std::string_view text);

class RuneSet {
 public:
  using Range = std::pair<int32_t, int32_t>;

  RuneSet() = default;
  explicit RuneSet(std::vector<Range> ranges) : ranges_(std::move(ranges)) { normalize(); }

  void add(int32_t low, int32_t high) { ranges_.emplace_back(low, high); }
  void add(const RuneSet& other);
  // Sorts the ranges and merges those that overlap or touch; has() requires it.
  void normalize();
  // Adds all characters that differ from a member only in case.
  void add_other_cases();
  void negate();
  bool has(int32_t rune) const;
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

// Finds a category ("L", "Lu") or script ("Greek"); FALSE if the name is unknown.
bool find_unicode_class(const std::string& name, RuneSet* set);

// Generated tables (tools/unicode_tables.py): text that encodes a sequence of numbers in base 32,
// least significant digit first. All digits of a number except the last have 32 added. unicode.cpp
// decodes them.
struct UnicodeClass {
  const char* name;
  const char* ranges;
};
extern const UnicodeClass kUnicodeClasses[];
extern const int kUnicodeClassCount;
extern const char* const kCaseFolds;

}  // namespace runhooks
