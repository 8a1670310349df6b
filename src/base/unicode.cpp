#include "base/unicode.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace runhooks {

namespace {

// Decodes the numbers of a table row.
class TableReader {
 public:
  explicit TableReader(const char* at) : at_(at) {}
  bool at_end() const { return *at_ == '\0'; }
  int32_t next() {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
    int32_t number = 0;
    for (int shift = 0;; shift += 5) {
      const auto digit = static_cast<int32_t>(std::strchr(digits, *at_++) - digits);
      number |= (digit & 31) << shift;
      if (digit < 32) return number;
    }
  }

 private:
  const char* at_;
};

// Maps characters to their case fold, and each fold to the characters that share it.
struct CaseFolds {
  std::map<int32_t, int32_t> fold;
  std::map<int32_t, std::vector<int32_t>> members;  // including the fold itself

  CaseFolds() {
    int32_t rune = 0;
    // Each entry has four numbers: gap to the previous range, additional members, step, and offset
    // to the fold (even: forward, odd: backward).
    for (TableReader reader(kCaseFolds); !reader.at_end();) {
      rune += reader.next();
      const int32_t additional_members = reader.next(), step = reader.next(),
                    encoded_offset = reader.next();
      for (int32_t i = 0; i <= additional_members; ++i) {
        if (i > 0) rune += step;
        add(rune, rune + (encoded_offset % 2 == 0 ? encoded_offset / 2 : -(encoded_offset / 2)));
      }
    }
  }
  void add(int32_t rune, int32_t fold_target) {
    fold[rune] = fold_target;
    std::vector<int32_t>& same_fold = members[fold_target];
    if (same_fold.empty()) same_fold.push_back(fold_target);
    same_fold.push_back(rune);
  }
};

const CaseFolds& case_folds() {
  static const auto* folds = new CaseFolds;
  return *folds;
}

}  // namespace

Rune rune_at(const char* at, const char* end) {
  constexpr Rune kInvalid{-1, 1};
  const auto byte = [at](int i) { return static_cast<int32_t>(static_cast<unsigned char>(at[i])); };
  const int32_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const int length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (length == 0 || end - at < length) return kInvalid;
  int32_t rune = first & (0xFF >> (length + 1));
  for (int i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return kInvalid;
    rune = rune << 6 | (byte(i) & 0x3F);
  }
  constexpr int32_t kSmallestRune[] = {0, 0, 0x80, 0x800, 0x10000};
  if (rune < kSmallestRune[length] || rune > kLastRune) return kInvalid;
  return {rune, length};
}

bool is_utf8(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    if (static_cast<unsigned char>(*at) < 0x80) {
      ++at;
      continue;
    }
    const Rune rune = rune_at(at, end);
    if (rune.value < 0) return false;
    at += rune.length;
  }
  return true;
}

void RuneSet::add(const RuneSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

void RuneSet::normalize() {
  std::sort(ranges_.begin(), ranges_.end());
  std::vector<Range> merged;
  for (const Range& range : ranges_) {
    if (merged.empty() || range.first > merged.back().second + 1) {
      merged.push_back(range);
    } else {
      merged.back().second = std::max(merged.back().second, range.second);
    }
  }
  ranges_ = std::move(merged);
}

void RuneSet::add_other_cases() {
  normalize();
  const CaseFolds& folds = case_folds();
  std::vector<int32_t> targets;
  for (const Range& range : ranges_) {
    for (auto i = folds.fold.lower_bound(range.first); i != folds.fold.end(); ++i) {
      if (i->first > range.second) break;
      targets.push_back(i->second);
    }
    for (auto i = folds.members.lower_bound(range.first); i != folds.members.end(); ++i) {
      if (i->first > range.second) break;
      targets.push_back(i->first);
    }
  }
  for (int32_t target : targets) {
    for (int32_t rune : folds.members.at(target)) add(rune, rune);
  }
  normalize();
}

void RuneSet::negate() {
  normalize();
  std::vector<Range> outside;
  int32_t next = 0;
  for (const Range& range : ranges_) {
    if (range.first > next) outside.emplace_back(next, range.first - 1);
    next = range.second + 1;
  }
  if (next <= kLastRune) outside.emplace_back(next, kLastRune);
  ranges_ = std::move(outside);
}

bool RuneSet::has(int32_t rune) const {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), Range(rune, kLastRune));
  return after != ranges_.begin() && std::prev(after)->second >= rune;
}

bool find_unicode_class(const std::string& name, RuneSet* set) {
  if (name == "Any") {
    *set = RuneSet({{0, kLastRune}});
    return true;
  }
  bool is_found = false;
  for (int i = 0; i < kUnicodeClassCount; ++i) {
    const std::string category = kUnicodeClasses[i].name;
    // "L" includes "Lu", "Ll" and so on.
    const bool is_subcategory = name.size() == 1 && category.size() == 2 && category[0] == name[0];
    if (category != name && !is_subcategory) continue;
    is_found = true;
    int32_t rune = 0;
    // Each entry has two numbers: gap to the previous range, and additional members of the range.
    for (TableReader reader(kUnicodeClasses[i].ranges); !reader.at_end();) {
      const int32_t low = rune + reader.next();
      rune = low + reader.next();
      set->add(low, rune);
    }
  }
  set->normalize();
  return is_found;
}

}  // namespace runhooks
