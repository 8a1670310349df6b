// What lives here: regular expressions (ECMAScript's), behind which <regex> stays: its templates take seconds to compile.
// Who may use it: everyone.
// What it must not know: where a pattern comes from, R.
#pragma once

#include <memory>
#include <string>

namespace runhooks {

class Pattern {
 public:
  // kInvalidArgument where `text` is no regular expression.
  explicit Pattern(const std::string& text);

  bool is_all_of(const std::string& text) const;
  bool is_in(const std::string& text) const;
  bool begins(const std::string& text) const;
  // `rewrite` names groups as $1, and what matches as $&.
  std::string replace_first(const std::string& text, const std::string& rewrite) const;
  std::string replace_all(const std::string& text, const std::string& rewrite) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace runhooks
