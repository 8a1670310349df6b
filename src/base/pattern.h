// Regular expressions with RE2's syntax, matched in time linear in the length of the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace runhooks {

class PatternProgram;

// Invalid UTF-8 matches nothing. Matches never start or end inside a character; RE2 allows that for
// \B. The single-byte class \C is not supported.
class Pattern {
 public:
  // Throws kInvalidArgument with RE2's error message if `text` is not a valid regular expression.
  explicit Pattern(const std::string& text);

  bool is_all_of(const std::string& text) const;
  bool is_in(const std::string& text) const;
  bool begins(const std::string& text) const;
  // `rewrite` refers to groups as \1 to \9 and to the whole match as \0. Throws kInvalidArgument if
  // it refers to a group that the pattern lacks.
  std::string replace_first(const std::string& text, const std::string& rewrite) const;
  std::string replace_all(const std::string& text, const std::string& rewrite) const;
  // Throws if `rewrite` is invalid for this pattern.
  void check_rewrite(const std::string& rewrite) const;

 private:
  std::string text_;
  std::shared_ptr<const PatternProgram> program_;
};

}  // namespace runhooks
