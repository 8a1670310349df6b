#include "graph/arg_spec.h"

#include <cstdlib>
#include <limits>

#include "base/number_text.h"
#include "base/split_text.h"
#include "base/status.h"

namespace runhooks {

namespace {

double parse_bound(const std::string& text) {
  const std::string number = trimmed(text);
  const double infinity = std::numeric_limits<double>::infinity();
  if (number == "Inf") return infinity;
  if (number == "-Inf") return -infinity;
  return read_double(number.c_str(), nullptr);
}

// Truncates the text at the first `mark` and returns the remainder after it.
std::string cut_at(std::string* text, const char* mark) {
  const size_t at = text->find(mark);
  if (at == std::string::npos) return "";
  const std::string rest = trimmed(text->substr(at + std::char_traits<char>::length(mark)));
  *text = trimmed(text->substr(0, at));
  return rest;
}

// Parses "beta1 = 0.9".
void parse_name(std::string text, ArgSpec* spec) {
  spec->fallback = cut_at(&text, " = ");
  spec->target = cut_at(&text, " as ");
  spec->name = trimmed(text);
  if (spec->target.empty()) spec->target = spec->name;
  spec->allows_null = spec->fallback == "NULL";
}

void parse_range(const std::string& text, ArgSpec* spec) {
  spec->range = text;
  const size_t comma = text.find(',');
  spec->is_open_below = text.front() == '(';
  spec->is_open_above = text.back() == ')';
  spec->low = parse_bound(text.substr(1, comma - 1));
  spec->high = parse_bound(text.substr(comma + 1, text.size() - comma - 2));
}

void parse_choices(const std::string& text, ArgSpec* spec) {
  spec->kind = "choice";
  for (const std::string& quoted : split_at_commas(text)) {
    spec->choices.push_back(quoted.substr(1, quoted.size() - 2));
  }
}

void parse_traits(const std::string& text, const std::string& line, ArgSpec* spec) {
  for (const std::string& trait : split_at_commas(text)) {
    if (trait == "kept") {
      spec->affects_checkpoints = true;
    } else if (trait == "apart") {
      spec->is_binding_only = true;
    } else {
      fail(Code::kInternal, "Unknown argument flag '", trait, "' in '", line, "'.");
    }
  }
}

// Parses "number in [0, 1]; kept".
void parse_kind(std::string text, const std::string& line, ArgSpec* spec) {
  parse_traits(cut_at(&text, ";"), line, spec);
  const std::string range = cut_at(&text, " in ");
  if (!range.empty()) parse_range(range, spec);
  const size_t or_null = text.find(" or NULL");
  if (or_null != std::string::npos) {
    spec->allows_null = true;
    text = text.substr(0, or_null);
  }
  spec->kind = text;
  if (text.rfind("one of ", 0) == 0) parse_choices(text.substr(7), spec);
}

}  // namespace

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool is_quoted = false;
  for (const char c : text) {
    if (c == '\'') is_quoted = !is_quoted;
    if (!is_quoted) depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0 && !is_quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = trimmed(part);
  if (parts.size() == 1 && parts[0].empty()) parts.clear();
  return parts;
}

ArgSpec parse_arg_spec(const std::string& line) {
  ArgSpec spec;
  spec.kind = "any";
  const size_t colon = line.find(": ");
  parse_name(line.substr(0, colon), &spec);
  if (spec.name.empty()) fail(Code::kInternal, "Argument '", line, "' has no name.");
  if (colon == std::string::npos) return spec;
  const size_t stop = line.find(". ", colon);
  const bool has_words = stop != std::string::npos;
  std::string what = trimmed(line.substr(colon + 2, has_words ? stop - colon - 2 : stop));
  if (!has_words && what.back() == '.') what.pop_back();
  parse_kind(what, line, &spec);
  if (has_words) spec.doc = trimmed(line.substr(stop + 2));
  return spec;
}

std::vector<ArgSpec> parse_arg_list(const std::string& text) {
  std::vector<ArgSpec> specs;
  for (const std::string& part : split_at_commas(text)) specs.push_back(parse_arg_spec(part));
  return specs;
}

}  // namespace runhooks
