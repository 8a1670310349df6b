// A regular expression as a program of threads in lockstep (Thompson, Pike): the time is linear in
// the text, the memory is bounded by the program, nothing recurses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/pattern_syntax.h"

namespace runhooks {

// Where the whole and its first nine groups begin and end; NULL where a group took no part.
struct PatternMatch {
  static constexpr int kPlaces = 20;
  const char* places[kPlaces];
};

class PatternProgram {
 public:
  explicit PatternProgram(const PatternTree& tree);

  int groups() const { return groups_; }
  struct How {
    bool at_begin = false, at_end = false;  // the match begins at `from`, ends with the text
  };
  // The leftmost match from `from` on, of which that which a backtracking search would find first;
  // with `match` NULL, whether there is one.
  bool find(const std::string& text, size_t from, How how, PatternMatch* match) const;

 private:
  friend class PatternSearch;
  struct Instruction {
    enum Kind { kRunes, kRune, kPlace, kSplit, kKeep, kMatch } kind;
    int next = 0;
    int other = 0;  // of kSplit, the less wanted; of kKeep, which place; of kRunes, which set
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
