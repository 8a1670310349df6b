// A regular expression compiled to instructions. All match attempts advance together (Thompson,
// Pike). Time is linear in the text, memory is bounded by the program, and nothing recurses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/pattern_syntax.h"

namespace runhooks {

// Start and end of the match and of its first nine groups; NULL for groups that matched nothing.
struct PatternMatch {
  static constexpr int kMaxCaptures = 20;
  const char* captures[kMaxCaptures];
};

class PatternProgram {
 public:
  explicit PatternProgram(const PatternTree& tree);

  int groups() const { return groups_; }
  struct Anchors {
    // `at_begin`: the match must start at `from`; `at_end`: it must end at the end of the text.
    bool at_begin = false, at_end = false;
  };
  // Finds the leftmost match at or after `from`. Of several matches at one position it prefers the
  // match that a backtracking search would find first. `match` may be NULL.
  bool find(const std::string& text, size_t from, Anchors anchors, PatternMatch* match) const;

 private:
  friend class PatternSearch;
  struct Instruction {
    enum Kind { kRuneSet, kRuneRange, kAssertion, kSplit, kCapture, kMatch } kind;
    int next = 0;
    int operand =
        0;  // kSplit: lower-priority branch; kCapture: index in captures; kRuneSet: in sets_
    int32_t low = 0, high = 0;  // kRuneRange
    PatternNode::Kind assertion = PatternNode::kTextBegin;
  };

  int emit(Instruction instruction);
  int emit_rune(const RuneSet& runes, int next);
  int emit_split(int preferred, int alternative, bool is_lazy);
  int compile(const PatternNode& node, int next);
  int compile_repeat(const PatternNode& node, int next);
  int compile_loop(const PatternNode& body, bool is_lazy, int next, bool can_repeat_zero_times);

  std::vector<Instruction> instructions_;
  std::vector<RuneSet> sets_;
  int start_ = 0, groups_ = 0;
};

}  // namespace runhooks
