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

// Removes the first `separator` and everything after it from `text`. Returns the removed text
// without the separator; "" if `text` has no separator.
std::string split_off_after(std::string* text, const char* separator) {
  const size_t at = text->find(separator);
  if (at == std::string::npos) return "";
  const std::string suffix = trimmed(text->substr(at + std::char_traits<char>::length(separator)));
  *text = trimmed(text->substr(0, at));
  return suffix;
}

// Parses the first part of a declaration: "beta1 = 0.9" or "num_buckets as number_buckets".
void parse_name(std::string text, ArgSpec* spec) {
  spec->fallback = split_off_after(&text, " = ");
  spec->target = split_off_after(&text, " as ");
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

void parse_flags(const std::string& text, const std::string& line, ArgSpec* spec) {
  for (const std::string& flag : split_at_commas(text)) {
    if (flag == "kept") {
      spec->affects_checkpoints = true;
    } else if (flag == "apart") {
      spec->is_binding_only = true;
    } else {
      fail(Code::kInternal, "Unknown argument flag '", flag, "' in '", line, "'.");
    }
  }
}

// Parses the kind, range and flags of an argument: "number in [0, 1]; kept".
void parse_kind(std::string text, const std::string& line, ArgSpec* spec) {
  parse_flags(split_off_after(&text, ";"), line, spec);
  const std::string range = split_off_after(&text, " in ");
  if (!range.empty()) parse_range(range, spec);
  const size_t null_suffix = text.find(" or NULL");
  if (null_suffix != std::string::npos) {
    spec->allows_null = true;
    text = text.substr(0, null_suffix);
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
  const size_t kind_end = line.find(". ", colon);
  const bool has_description = kind_end != std::string::npos;
  std::string kind_text =
      trimmed(line.substr(colon + 2, has_description ? kind_end - colon - 2 : kind_end));
  if (!has_description && kind_text.back() == '.') kind_text.pop_back();
  parse_kind(kind_text, line, &spec);
  if (has_description) spec.doc = trimmed(line.substr(kind_end + 2));
  return spec;
}

std::vector<ArgSpec> parse_arg_list(const std::string& text) {
  std::vector<ArgSpec> specs;
  for (const std::string& part : split_at_commas(text)) specs.push_back(parse_arg_spec(part));
  return specs;
}

}  // namespace runhooks
