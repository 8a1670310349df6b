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
    kGroup,  // (x), where parts[0] is x; the match of x is recorded
    // Zero-width assertions.
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
  int min_repeats = 0, max_repeats = -1;  // -1: no limit
  bool is_lazy = false;
  int group = 0;  // the number of a group, from 1; 0 for other nodes
  bool can_be_empty = false;
};
using PatternNodePtr = std::shared_ptr<const PatternNode>;

struct PatternTree {
  PatternNodePtr root;
  int groups = 0;
};

PatternTree parse_pattern(const std::string& text);

}  // namespace runhooks
