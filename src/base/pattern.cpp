// Regular expressions by the standard library.
#include "base/pattern.h"

#include <regex>

#include "base/status.h"

namespace runhooks {

struct Pattern::Compiled {
  std::regex regex;
};

Pattern::Pattern(const std::string& text) {
  try {
    compiled_ = std::make_shared<Compiled>(Compiled{std::regex(text, std::regex::ECMAScript)});
  } catch (const std::regex_error& error) {
    invalid_argument("Invalid pattern: ", text, ", error: ", error.what(), ".");
  }
}

bool Pattern::is_all_of(const std::string& text) const {
  return std::regex_match(text, compiled_->regex);
}

bool Pattern::is_in(const std::string& text) const {
  return std::regex_search(text, compiled_->regex);
}

bool Pattern::begins(const std::string& text) const {
  return std::regex_search(text, compiled_->regex, std::regex_constants::match_continuous);
}

std::string Pattern::replace_first(const std::string& text, const std::string& rewrite) const {
  return std::regex_replace(text, compiled_->regex, rewrite,
                            std::regex_constants::format_first_only);
}

std::string Pattern::replace_all(const std::string& text, const std::string& rewrite) const {
  return std::regex_replace(text, compiled_->regex, rewrite);
}

}  // namespace runhooks
