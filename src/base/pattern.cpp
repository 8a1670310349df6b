#include "base/pattern.h"

#include <algorithm>

#include "base/pattern_program.h"
#include "base/status.h"

namespace runhooks {

Pattern::Pattern(const std::string& text)
    : text_(text), program_(std::make_shared<PatternProgram>(parse_pattern(text))) {}

bool Pattern::is_all_of(const std::string& text) const {
  return program_->find(text, 0, {true, true}, nullptr);
}

bool Pattern::is_in(const std::string& text) const { return program_->find(text, 0, {}, nullptr); }

bool Pattern::begins(const std::string& text) const {
  return program_->find(text, 0, {true, false}, nullptr);
}

namespace {

void append_rewritten(const std::string& rewrite, const PatternMatch& match, std::string* out) {
  for (size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') {
      *out += rewrite[i];
    } else if (rewrite[++i] == '\\') {
      *out += '\\';
    } else {
      const int group = rewrite[i] - '0';
      const char* begin = match.captures[2 * group];
      if (begin) out->append(begin, match.captures[2 * group + 1]);
    }
  }
}

}  // namespace

void Pattern::check_rewrite(const std::string& rewrite) const {
  for (size_t i = 0; i < rewrite.size(); ++i) {
    if (rewrite[i] != '\\') continue;
    const char next = ++i < rewrite.size() ? rewrite[i] : '\0';
    if (next == '\\') continue;
    if (next < '0' || next > '9') {
      invalid_argument("Invalid rewrite: ", rewrite, ", error: a backslash must be followed by ",
                       "a digit or another backslash.");
    }
    if (next - '0' > program_->groups()) {
      invalid_argument("Invalid rewrite: ", rewrite, ", error: it refers to group ", next - '0',
                       ", and the pattern ", text_, " has ", program_->groups(), " groups.");
    }
  }
}

std::string Pattern::replace_first(const std::string& text, const std::string& rewrite) const {
  check_rewrite(rewrite);
  PatternMatch match;
  if (!program_->find(text, 0, {}, &match)) return text;
  std::string out(text.data(), match.captures[0]);
  append_rewritten(rewrite, match, &out);
  return out.append(match.captures[1], text.data() + text.size());
}

std::string Pattern::replace_all(const std::string& text, const std::string& rewrite) const {
  check_rewrite(rewrite);
  const char* const end = text.data() + text.size();
  std::string out;
  const char* last_end = nullptr;
  PatternMatch match;
  for (const char* at = text.data(); at <= end;) {
    if (!program_->find(text, static_cast<size_t>(at - text.data()), {}, &match)) {
      return out.append(at, end);
    }
    const char *begin = match.captures[0], *match_end = match.captures[1];
    out.append(at, begin);
    if (begin == last_end && begin == match_end) {
      // Does not replace an empty match right after the previous match; copies one character.
      if (begin == end) break;
      const int length = rune_at(begin, end).length;
      out.append(begin, static_cast<size_t>(length));
      at = begin + length;
      continue;
    }
    append_rewritten(rewrite, match, &out);
    at = last_end = match_end;
  }
  return out;
}

}  // namespace runhooks
