// Characters of UTF-8, sets of them, Unicode's categories, scripts and pairs of letters.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace runhooks {

constexpr int32_t kLastRune = 0x10FFFF;

// The character that begins at `at`, and its length in bytes; -1 and 1 where no character does.
struct Rune {
  int32_t value;
  int length;
};
Rune rune_at(const char* at, const char* end);

// Ranges of characters, sorted, apart from each other once settle() was called.
class RuneSet {
 public:
  using Range = std::pair<int32_t, int32_t>;

  RuneSet() = default;
  explicit RuneSet(std::vector<Range> ranges) : ranges_(std::move(ranges)) { settle(); }

  void add(int32_t low, int32_t high) { ranges_.emplace_back(low, high); }
  void add(const RuneSet& other);
  void settle();
  // Those of the other case too.
  void fold();
  void negate();
  bool has(int32_t rune) const;
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;
};

// A category ("L", "Lu") or a script ("Greek"); false where there is none of that name.
bool find_unicode_class(const std::string& name, RuneSet* set);

// From the generated tables (tools/unicode_tables.py). Numbers to the base of 32, digits from the
// lowest, where all but the last have 32 added; see unicode.cpp for what they say.
struct UnicodeClass {
  const char* name;
  const char* ranges;
};
extern const UnicodeClass kUnicodeClasses[];
extern const int kUnicodeClassCount;
extern const char* const kCaseFolds;

}  // namespace runhooks
