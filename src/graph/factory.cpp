#include "graph/factory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace runhooks {

namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

double bound(const std::string& text) {
  const std::string number = trimmed(text);
  const double infinity = std::numeric_limits<double>::infinity();
  if (number == "Inf") return infinity;
  if (number == "-Inf") return -infinity;
  return std::strtod(number.c_str(), nullptr);
}

// What to say of a range: "between 0 and 1", "0 or more", "positive".
std::string range_in_words(const ArgSpec& spec) {
  const bool is_bounded = std::isfinite(spec.low), is_bounded_above = std::isfinite(spec.high);
  if (is_bounded && is_bounded_above && !spec.is_open_below && !spec.is_open_above) {
    return str_cat("between ", spec.low, " and ", spec.high);
  }
  if (is_bounded && is_bounded_above) return str_cat("in ", spec.range);
  if (is_bounded_above)
    return str_cat(spec.is_open_above ? "below " : "", spec.high,
                   spec.is_open_above ? "" : " or less");
  if (spec.is_open_below) return spec.low == 0 ? "positive" : str_cat("more than ", spec.low);
  return str_cat(spec.low, " or more");
}

bool is_not_known_yet(const Value& value) {
  return value.get_if<Output>() || value.get_if<std::shared_ptr<Variable>>() ||
         value.get_if<std::shared_ptr<Callable>>();
}

bool is_plain_number(const Value& value) {
  double x;
  return value_number(value, &x) && !std::isnan(x);
}
bool is_whole_number(const Value& value) {
  double x;
  return value_number(value, &x) && x == std::floor(x);
}
bool is_text(const Value& value) { return value.get_if<std::string>(); }
bool is_one_tensor(const Value& value) {
  return is_text(value) || value.get_if<Output>() || value.get_if<std::shared_ptr<Variable>>();
}

// The elements of a list, with names or without, pass `is_good`.
template <typename IsGood>
bool are_all(const Value& value, IsGood is_good) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    return std::all_of((*list)->begin(), (*list)->end(), is_good);
  }
  const auto* named = value.get_if<std::shared_ptr<Args>>();
  if (!named) return false;
  const auto& items = (*named)->items();
  return std::all_of(items.begin(), items.end(), [&](const auto& i) { return is_good(i.second); });
}

struct ArgKind {
  const char* name;
  const char* wanted;
  bool (*accepts)(const Value&);
  bool shows_value = true;  // in messages; else what it is
};

const ArgKind kArgKinds[] = {
    {"number", "a number or a tensor",
     [](const Value& value) { return is_plain_number(value) || is_not_known_yet(value); }},
    {"plain number", "a number", is_plain_number},
    {"whole number", "a whole number", is_whole_number},
    {"flag", "TRUE or FALSE", [](const Value& value) { return value.get_if<bool>() != nullptr; }},
    {"string", "a single string", is_text},
    {"path", "a single string", is_text},
    {"function", "a function",
     [](const Value& value) { return value.get_if<std::shared_ptr<Callable>>() != nullptr; }},
    {"tensor", "a tensor or the name of one", is_one_tensor, false},
    {"tensors", "names of tensors or a named list of tensors",
     [](const Value& value) { return is_one_tensor(value) || are_all(value, is_one_tensor); },
     false},
    {"summaries", "a summary, the name of one or a list of these",
     [](const Value& value) { return is_one_tensor(value) || are_all(value, is_one_tensor); },
     false},
    // What only the embedding language can look at, and does.
    {"any", "", nullptr},
    {"unsupported", "", nullptr},
    {"saver", "", nullptr},
    {"scaffold", "", nullptr},
    {"listeners", "", nullptr},
};

// NULL for other words: what the core has made, see Made ("dataset").
const ArgKind* find_kind(const ArgSpec& spec) {
  const std::string name = spec.kind.substr(0, spec.kind.find('('));
  for (const ArgKind& kind : kArgKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

// A short value itself, else what it is.
std::string described(const Value& value) {
  double x;
  if (const auto* text = value.get_if<std::string>()) return str_cat('"', *text, '"');
  if (const auto* flag = value.get_if<bool>()) return *flag ? "TRUE" : "FALSE";
  if (value_number(value, &x)) return std::isnan(x) ? "NA" : str_cat(x);
  return value.kind();
}

void check_argument(const ArgSpec& spec, const Value& value, const Args& args) {
  auto fail_with = [&](const std::string& wanted, const std::string& got) {
    invalid_argument(args.label(spec.name), " must be ", wanted, ", not ", got, ".");
  };
  if (value.is_null() && spec.is_null_good) return;
  const ArgKind* kind = find_kind(spec);
  if (!kind && value.kind() != "a " + spec.kind) fail_with("a " + spec.kind, described(value));
  if (!kind || !kind->accepts) return;
  if (!kind->accepts(value)) {
    fail_with(kind->wanted, kind->shows_value ? described(value) : value.kind());
  }
  double x;
  if (!value_number(value, &x)) return;
  constexpr double kLargest = 9007199254740992;
  if (spec.kind == "whole number" && std::abs(x) > kLargest) {
    fail_with("a whole number of at most 2^53", described(value));
  }
  if (spec.range.empty()) return;
  const bool good = (spec.is_open_below ? x > spec.low : x >= spec.low) &&
                    (spec.is_open_above ? x < spec.high : x <= spec.high);
  if (!good) fail_with(range_in_words(spec), str_cat(x));
}

}  // namespace

ArgSpec parse_arg_spec(const std::string& line) {
  ArgSpec spec;
  const size_t colon = line.find(": "), stop = line.find(". ", colon);
  const std::string head = line.substr(0, colon);
  const size_t equals = head.find(" = ");
  spec.name = trimmed(head.substr(0, equals));
  if (equals != std::string::npos) spec.fallback = trimmed(head.substr(equals + 3));
  std::string what = trimmed(line.substr(colon + 2, stop - colon - 2));
  if (stop == std::string::npos && what.back() == '.') what.pop_back();  // there is no more
  const size_t in = what.find(" in ");
  spec.kind = what.substr(0, in);
  const size_t or_null = spec.kind.find(" or NULL");
  spec.is_null_good = spec.fallback == "NULL" || or_null != std::string::npos;
  spec.kind = spec.kind.substr(0, or_null);
  if (stop != std::string::npos) spec.doc = trimmed(line.substr(stop + 2));
  if (in == std::string::npos) return spec;
  spec.range = trimmed(what.substr(in + 4));
  const size_t comma = spec.range.find(',');
  spec.is_open_below = spec.range.front() == '(';
  spec.is_open_above = spec.range.back() == ')';
  spec.low = bound(spec.range.substr(1, comma - 1));
  spec.high = bound(spec.range.substr(comma + 1, spec.range.size() - comma - 2));
  return spec;
}

void check_arguments(const std::vector<ArgSpec>& specs, const Args& args) {
  for (const auto& item : args.items()) {
    bool is_known = item.first == "type";
    for (const ArgSpec& spec : specs) {
      if (spec.name != item.first) continue;
      is_known = true;
      check_argument(spec, item.second, args);
    }
    if (!is_known) invalid_argument("Unused argument ", args.label(item.first), ".");
  }
  for (const ArgSpec& spec : specs) {
    if (spec.fallback.empty() && !spec.is_null_good && !args.has(spec.name)) {
      invalid_argument(args.label(spec.name), " is missing.");
    }
  }
}

}  // namespace runhooks
