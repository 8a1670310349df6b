// Parses regular expressions with RE2's syntax into a tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/unicode.h"

namespace runhooks {

struct PatternNode {
  enum Kind {
    kRunes,
    kSequence,
    kAlternation,  // the first of `parts` that leads to a match has priority
    kRepeat,
    kGroup,  // parts[0], recorded as a group
    // Positions between characters.
    kTextBegin,
    kTextEnd,
    kLineBegin,
    kLineEnd,
    kWordBoundary,
    kNotWordBoundary
  };
  Kind kind = kSequence;
  RuneSet runes;
  std::vector<std::shared_ptr<const PatternNode>> parts;
  int least = 0, most = -1;  // -1: any number
  bool is_lazy = false;
  int group = 0;  // counted from 1
  bool can_be_empty = false;
};
using PatternNodePtr = std::shared_ptr<const PatternNode>;

struct PatternTree {
  PatternNodePtr root;
  int groups = 0;
};

PatternTree parse_pattern(const std::string& text);

}  // namespace runhooks
