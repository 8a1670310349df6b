// A regular expression compiled to threads that run in lockstep (Thompson, Pike). Time is linear in
// the text, memory is bounded by the program, and nothing recurses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/pattern_syntax.h"

namespace runhooks {

// Start and end of the match and of its first nine groups; NULL for groups that did not take part.
struct PatternMatch {
  static constexpr int kMaxCaptures = 20;
  const char* places[kMaxCaptures];
};

class PatternProgram {
 public:
  explicit PatternProgram(const PatternTree& tree);

  int groups() const { return groups_; }
  struct How {
    // `at_begin`: the match must start at `from`; `at_end`: it must end at the end of the text.
    bool at_begin = false, at_end = false;
  };
  // Finds the leftmost match from `from` on; of several, the one that a backtracking search finds
  // first. With `match` NULL, returns only whether there is a match.
  bool find(const std::string& text, size_t from, How how, PatternMatch* match) const;

 private:
  friend class PatternSearch;
  struct Instruction {
    enum Kind { kRunes, kRune, kCapture, kSplit, kKeep, kMatch } kind;
    int next = 0;
    int other = 0;  // kSplit: lower-priority branch; kKeep: index in places; kRunes: set
    int32_t low = 0, high = 0;
    PatternNode::Kind place = PatternNode::kTextBegin;
  };

  int emit(Instruction instruction);
  int emit_rune(const RuneSet& runes, int next);
  int emit_split(int wanted, int other, bool is_lazy);
  int compile(const PatternNode& node, int next);
  int compile_repeat(const PatternNode& node, int next);
  int compile_loop(const PatternNode& inside, bool is_lazy, int next, bool may_be_none);

  std::vector<Instruction> instructions_;
  std::vector<RuneSet> sets_;
  int start_ = 0, groups_ = 0;
};

}  // namespace runhooks
