// Regular expressions in RE2's syntax (TensorFlow's), found in time that is linear in the text.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace runhooks {

class PatternProgram;

// Bytes that are no UTF-8 match nothing. No match begins or ends within a character, where RE2 tears
// one apart for \B; and \C, a single byte, is refused.
class Pattern {
 public:
  // kInvalidArgument, in RE2's words, where `text` is no regular expression.
  explicit Pattern(const std::string& text);

  bool is_all_of(const std::string& text) const;
  bool is_in(const std::string& text) const;
  bool begins(const std::string& text) const;
  // `rewrite` names groups as \1 to \9, and what matches as \0; kInvalidArgument where it names one
  // that the pattern lacks.
  std::string replace_first(const std::string& text, const std::string& rewrite) const;
  std::string replace_all(const std::string& text, const std::string& rewrite) const;
  void check_rewrite(const std::string& rewrite) const;

 private:
  std::string text_;
  std::shared_ptr<const PatternProgram> program_;
};

}  // namespace runhooks
