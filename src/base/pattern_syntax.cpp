// Parses RE2's regular expression syntax and rejects invalid patterns with RE2's messages.
#include "base/pattern_syntax.h"

#include <algorithm>
#include <cstring>

#include "base/ascii.h"
#include "base/status.h"

namespace runhooks {

namespace {

// Nesting limit, because the parser and the compiler recurse per group.
constexpr int kMaxGroupDepth = 1000;
constexpr int kMaxRepeats = 1000;

using Kind = PatternNode::Kind;

struct NamedRanges {
  const char* name;
  std::vector<RuneSet::Range> ranges;
};

const std::vector<NamedRanges>& posix_classes() {
  static const std::vector<NamedRanges> classes = {
      {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
      {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
      {"ascii", {{0, 0x7F}}},
      {"blank", {{'\t', '\t'}, {' ', ' '}}},
      {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}},
      {"digit", {{'0', '9'}}},
      {"graph", {{'!', '~'}}},
      {"lower", {{'a', 'z'}}},
      {"print", {{' ', '~'}}},
      {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
      {"space", {{'\t', '\r'}, {' ', ' '}}},
      {"upper", {{'A', 'Z'}}},
      {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
      {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  return classes;
}

RuneSet perl_class(char letter) {
  switch (letter) {
    case 'd':
      return RuneSet({{'0', '9'}});
    case 's':
      return RuneSet({{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}});
    default:
      return RuneSet({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
  }
}

struct ParsedNode {
  PatternNodePtr node;
  int repeats = 1;  // product of nested counted repetitions
};

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  PatternTree parse() {
    const ParsedNode combined = parse_alternation(0);
    if (!at_end()) error("unexpected )", 0, text_.size());
    return {combined.node, groups_};
  }

 private:
  struct Flags {
    bool ignores_case = false, has_lines = false, dot_is_all = false, is_lazy = false;
  };

  bool at_end() const { return at_ >= text_.size(); }
  bool looking_at(const char* token) const {
    return text_.compare(at_, std::strlen(token), token) == 0;
  }
  bool consume(const char* token) {
    if (!looking_at(token)) return false;
    at_ += std::strlen(token);
    return true;
  }
  [[noreturn]] void error(const char* problem, size_t begin, size_t end) const {
    const bool has_excerpt = begin < end;
    invalid_argument("Invalid pattern: ", text_, ", error: ", problem, has_excerpt ? ": " : "",
                     text_.substr(begin, end - begin), ".");
  }

  int32_t take_rune() {
    const Rune rune = rune_at(text_.data() + at_, text_.data() + text_.size());
    if (rune.value < 0) error("invalid UTF-8", 0, 0);
    at_ += static_cast<size_t>(rune.length);
    return rune.value;
  }

  static ParsedNode assertion_node(Kind kind) {
    auto node = std::make_shared<PatternNode>();
    node->kind = kind;
    node->can_be_empty = true;
    return {node};
  }
  static ParsedNode rune_node(RuneSet set) {
    auto node = std::make_shared<PatternNode>();
    node->kind = Kind::kRunes;
    node->runes = std::move(set);
    return {node};
  }
  ParsedNode literal_node(int32_t rune) const {
    RuneSet set({{rune, rune}});
    if (flags_.ignores_case) set.add_other_cases();
    return rune_node(std::move(set));
  }
  static ParsedNode combine(Kind kind, const std::vector<ParsedNode>& parts) {
    if (parts.size() == 1) return parts[0];
    auto node = std::make_shared<PatternNode>();
    node->kind = kind;
    ParsedNode combined{node};
    node->can_be_empty = kind == Kind::kSequence;
    for (const ParsedNode& part : parts) {
      node->parts.push_back(part.node);
      combined.repeats = std::max(combined.repeats, part.repeats);
      if (part.node->can_be_empty != node->can_be_empty) {
        // A sequence can be empty if all parts can be; an alternation (|) if one part can be.
        node->can_be_empty = kind == Kind::kAlternation;
      }
    }
    return combined;
  }

  ParsedNode parse_alternation(int depth) {
    if (depth > kMaxGroupDepth) {
      invalid_argument("Invalid pattern: groups are nested more than ", kMaxGroupDepth, " deep.");
    }
    std::vector<ParsedNode> alternatives;
    do {
      alternatives.push_back(parse_sequence(depth));
    } while (consume("|"));
    return combine(Kind::kAlternation, alternatives);
  }

  ParsedNode parse_sequence(int depth) {
    std::vector<ParsedNode> parts;
    size_t last_repeat = std::string::npos;  // position of a repetition that has just been parsed
    while (!at_end() && !looking_at("|") && !looking_at(")")) {
      const size_t begin = at_;
      int min_repeats = 0, max_repeats = -1;
      if (parse_repeat(&min_repeats, &max_repeats)) {
        const bool is_lazy = consume("?") != flags_.is_lazy;
        if (last_repeat != std::string::npos) error("bad repetition operator", last_repeat, at_);
        if (parts.empty()) error("no argument for repetition operator", begin, at_);
        parts.back() = repeat_node(parts.back(), min_repeats, max_repeats, is_lazy, begin);
        last_repeat = begin;
        continue;
      }
      last_repeat = std::string::npos;
      parse_atom(depth, &parts);
    }
    return combine(Kind::kSequence, parts);
  }

  ParsedNode repeat_node(
      const ParsedNode& part, int min_repeats, int max_repeats, bool is_lazy, size_t begin) const {
    auto node = std::make_shared<PatternNode>();
    node->kind = Kind::kRepeat;
    node->parts = {part.node};
    node->min_repeats = min_repeats;
    node->max_repeats = max_repeats;
    node->is_lazy = is_lazy;
    node->can_be_empty = min_repeats == 0 || part.node->can_be_empty;
    ParsedNode combined{node, part.repeats};
    if (text_[begin] == '{') combined.repeats *= std::max(1, std::max(min_repeats, max_repeats));
    if (combined.repeats > kMaxRepeats) error("invalid repetition size", begin, at_);
    return combined;
  }

  // Parses *, +, ?, {2}, {2,} or {2,5}; any other brace is a literal.
  bool parse_repeat(int* min_repeats, int* max_repeats) {
    if (consume("*")) return true;
    if (consume("+")) {
      *min_repeats = 1;
      return true;
    }
    if (consume("?")) {
      *max_repeats = 1;
      return true;
    }
    const size_t begin = at_;
    if (!consume("{") || !parse_count(min_repeats)) {
      at_ = begin;
      return false;
    }
    *max_repeats = *min_repeats;
    if (consume(",") && !looking_at("}")) {
      if (!parse_count(max_repeats)) {
        at_ = begin;
        return false;
      }
    } else if (text_[at_ - 1] == ',') {
      *max_repeats = -1;
    }
    if (!consume("}")) {
      at_ = begin;
      return false;
    }
    const bool is_too_large = *min_repeats > kMaxRepeats || *max_repeats > kMaxRepeats;
    if (is_too_large || (*max_repeats >= 0 && *max_repeats < *min_repeats))
      error("invalid repetition size", begin, at_);
    return true;
  }

  bool parse_count(int* count) {
    const size_t begin = at_;
    *count = 0;
    for (; !at_end() && is_ascii_digit(text_[at_]); ++at_) {
      *count = std::min(*count * 10 + (text_[at_] - '0'), 100 * kMaxRepeats);
    }
    const size_t length = at_ - begin;
    return length == 1 || (length > 1 && text_[begin] != '0');
  }

  void parse_atom(int depth, std::vector<ParsedNode>* parts) {
    switch (text_[at_]) {
      case '(':
        return parse_group(depth, parts);
      case '[':
        parts->push_back(rune_node(parse_character_class()));
        return;
      case '\\':
        return parse_backslash(parts);
      case '.': {
        ++at_;
        RuneSet all;
        if (!flags_.dot_is_all) all.add('\n', '\n');
        all.negate();
        parts->push_back(rune_node(std::move(all)));
        return;
      }
      case '^':
        ++at_;
        parts->push_back(assertion_node(flags_.has_lines ? Kind::kLineBegin : Kind::kTextBegin));
        return;
      case '$':
        ++at_;
        parts->push_back(assertion_node(flags_.has_lines ? Kind::kLineEnd : Kind::kTextEnd));
        return;
      default:
        parts->push_back(literal_node(take_rune()));
    }
  }

  void parse_group(int depth, std::vector<ParsedNode>* parts) {
    const size_t begin = at_;
    const Flags before = flags_;
    int group = 0;
    if (looking_at("(?P<") || looking_at("(?<")) {
      parse_group_name();
      group = ++groups_;
    } else if (consume("(?")) {
      // "(?i)" applies to the rest of the enclosing group, unlike "(?i:...)".
      if (!parse_flags(begin)) return;
    } else {
      ++at_;
      group = ++groups_;
    }
    ParsedNode inside = parse_alternation(depth + 1);
    if (!consume(")")) error("missing )", 0, text_.size());
    flags_ = before;
    if (group > 0) {
      auto node = std::make_shared<PatternNode>();
      node->kind = Kind::kGroup;
      node->parts = {inside.node};
      node->group = group;
      node->can_be_empty = inside.node->can_be_empty;
      inside.node = node;
    }
    parts->push_back(inside);
  }

  void parse_group_name() {
    const size_t begin = at_;
    if (!consume("(?P<")) consume("(?<");
    const size_t name = at_, end = text_.find('>', at_);
    if (end == std::string::npos) error("invalid named capture group", begin, text_.size());
    at_ = end + 1;
    const bool is_valid_name = std::all_of(text_.begin() + name, text_.begin() + end, [](char c) {
      return is_ascii_alnum(c) || c == '_' || (c & 0x80);
    });
    if (name == end || !is_valid_name) error("invalid named capture group", begin, at_);
  }

  bool parse_flags(size_t begin) {
    Flags flags = flags_;
    bool is_on = true, has_flag = false;
    for (;;) {
      if (at_end()) error("invalid perl operator", begin, at_);
      const int32_t c = take_rune();
      has_flag = has_flag || (c != '-' && c != ':' && c != ')');
      switch (c) {
        case 'i':
          flags.ignores_case = is_on;
          break;
        case 'm':
          flags.has_lines = is_on;
          break;
        case 's':
          flags.dot_is_all = is_on;
          break;
        case 'U':
          flags.is_lazy = is_on;
          break;
        case '-':
          if (!is_on) error("invalid perl operator", begin, at_);
          is_on = has_flag = false;
          break;
        case ':':
        case ')':
          if (!is_on && !has_flag) error("invalid perl operator", begin, at_);
          flags_ = flags;
          return c == ':';
        default:
          error("invalid perl operator", begin, at_);
      }
    }
  }

  void parse_backslash(std::vector<ParsedNode>* parts) {
    RuneSet set;
    if (parse_named_set(&set)) {
      parts->push_back(rune_node(std::move(set)));
    } else if (consume("\\A")) {
      parts->push_back(assertion_node(Kind::kTextBegin));
    } else if (consume("\\z")) {
      parts->push_back(assertion_node(Kind::kTextEnd));
    } else if (consume("\\b")) {
      parts->push_back(assertion_node(Kind::kWordBoundary));
    } else if (consume("\\B")) {
      parts->push_back(assertion_node(Kind::kNotWordBoundary));
    } else if (looking_at("\\C")) {
      error("matching single bytes is not supported", at_, at_ + 2);
    } else if (consume("\\Q")) {
      while (!at_end() && !consume("\\E")) parts->push_back(literal_node(take_rune()));
    } else {
      parts->push_back(literal_node(parse_escape()));
    }
  }

  bool parse_named_set(RuneSet* set) {
    if (at_ + 1 >= text_.size()) return false;
    const char letter = text_[at_ + 1];
    bool is_negated = is_ascii_upper(letter);
    if (std::strchr("dswDSW", letter)) {
      at_ += 2;
      *set = perl_class(ascii_lower(letter));
    } else if (letter == 'p' || letter == 'P') {
      *set = parse_unicode_class(&is_negated);
    } else {
      return false;
    }
    if (flags_.ignores_case) set->add_other_cases();
    if (is_negated) set->negate();
    return true;
  }

  RuneSet parse_unicode_class(bool* is_negated) {
    constexpr auto kMessage = "invalid character class range";
    const size_t begin = at_;
    at_ += 2;
    if (at_end()) error(kMessage, begin, at_);
    std::string name;
    if (consume("{")) {
      const size_t end = text_.find('}', at_);
      if (end == std::string::npos) error(kMessage, begin, text_.size());
      name = text_.substr(at_, end - at_);
      at_ = end + 1;
    } else {
      const size_t from = at_;
      take_rune();
      name = text_.substr(from, at_ - from);
    }
    if (!name.empty() && name[0] == '^') {
      *is_negated = !*is_negated;
      name.erase(0, 1);
    }
    RuneSet set;
    if (!find_unicode_class(name, &set)) error(kMessage, begin, at_);
    return set;
  }

  int32_t parse_escape() {
    const size_t begin = at_++;
    if (at_end()) error("trailing \\", 0, 0);
    const int32_t rune = take_rune();
    const auto throw_invalid = [&] { error("invalid escape sequence", begin, at_); };
    if (rune >= 0x80) throw_invalid();
    const char c = static_cast<char>(rune);
    if (c == 'x') return parse_hex(begin);
    if (c >= '0' && c <= '7') {
      // A single digit other than 0 would be a backreference.
      const bool is_octal = !at_end() && text_[at_] >= '0' && text_[at_] <= '7';
      if (c != '0' && !is_octal) throw_invalid();
      int32_t code = c - '0';
      for (int i = 0; i < 2 && !at_end() && text_[at_] >= '0' && text_[at_] <= '7'; ++i) {
        code = code * 8 + (text_[at_++] - '0');
      }
      return code;
    }
    static const char letters[] = "nrtafv", values[] = "\n\r\t\a\f\v";
    if (const char* position = std::strchr(letters, c)) return c ? values[position - letters] : 0;
    if (is_ascii_alnum(c)) throw_invalid();
    return rune;
  }

  int32_t parse_hex(size_t begin) {
    int32_t code = 0;
    const auto throw_invalid = [&] { error("invalid escape sequence", begin, at_); };
    const auto take_digit = [&] {
      if (at_end()) throw_invalid();
      const int digit = hex_digit_value(text_[at_++]);
      if (digit > 15) throw_invalid();
      code = code * 16 + digit;
      if (code > kLastRune) throw_invalid();
    };
    if (!consume("{")) {
      take_digit();
      take_digit();
      return code;
    }
    do {
      take_digit();
    } while (!looking_at("}"));
    ++at_;
    return code;
  }

  RuneSet parse_character_class() {
    const size_t begin = at_++;
    const bool is_negated = consume("^");
    RuneSet set;
    for (bool is_first = true; at_end() || text_[at_] != ']' || is_first; is_first = false) {
      if (at_end()) error("missing ]", begin, text_.size());
      RuneSet named;
      if (parse_posix_class(&named) || (text_[at_] == '\\' && parse_named_set(&named))) {
        set.add(named);
      } else {
        set.add(parse_range(begin));
      }
    }
    ++at_;
    set.normalize();
    if (is_negated) set.negate();
    return set;
  }

  RuneSet parse_range(size_t class_begin) {
    const size_t begin = at_;
    const int32_t low = parse_class_character(class_begin);
    int32_t high = low;
    if (looking_at("-") && at_ + 1 < text_.size() && text_[at_ + 1] != ']') {
      ++at_;
      high = parse_class_character(class_begin);
      if (high < low) error("invalid character class range", begin, at_);
    }
    RuneSet range({{low, high}});
    if (flags_.ignores_case) range.add_other_cases();
    return range;
  }

  int32_t parse_class_character(size_t class_begin) {
    if (at_end()) error("missing ]", class_begin, text_.size());
    return text_[at_] == '\\' ? parse_escape() : take_rune();
  }

  bool parse_posix_class(RuneSet* set) {
    if (!looking_at("[:")) return false;
    const size_t end = text_.find(":]", at_ + 2);
    if (end == std::string::npos) return false;
    const size_t begin = at_;
    at_ += 2;
    const bool is_negated = consume("^");
    const std::string name = text_.substr(at_, end - at_);
    at_ = end + 2;
    for (const NamedRanges& posix_class : posix_classes()) {
      if (name != posix_class.name) continue;
      *set = RuneSet(posix_class.ranges);
      if (flags_.ignores_case) set->add_other_cases();
      if (is_negated) set->negate();
      return true;
    }
    error("invalid character class range", begin, at_);
  }

  const std::string& text_;
  size_t at_ = 0;
  int groups_ = 0;
  Flags flags_;
};

}  // namespace

PatternTree parse_pattern(const std::string& text) { return Parser(text).parse(); }

}  // namespace runhooks
