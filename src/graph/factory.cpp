#include "graph/factory.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace runhooks {

namespace {

// Describes a range in messages: "between 0 and 1", "0 or more", "positive".
std::string describe_range(const ArgSpec& spec) {
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

// Whether the value is computed later, by a graph or a function.
bool is_symbolic(const Value& value) {
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
bool is_count(const Value& value) {
  double x;
  return is_whole_number(value) && value_number(value, &x) && x >= 1;
}
bool is_probability(const Value& value) {
  double x;
  return value_number(value, &x) && x >= 0 && x < 1;
}
bool is_string(const Value& value) { return value.get_if<std::string>(); }
bool is_flag(const Value& value) { return value.get_if<bool>(); }
bool is_callable(const Value& value) { return value.get_if<std::shared_ptr<Callable>>(); }
bool is_tensor_or_name(const Value& value) {
  return is_string(value) || value.get_if<Output>() || value.get_if<std::shared_ptr<Variable>>();
}

// Whether all elements of a list, named or not, pass `is_valid`.
template <typename IsValid>
bool are_all(const Value& value, IsValid is_valid) {
  if (const auto* list = value.get_if<std::shared_ptr<ValueList>>()) {
    return std::all_of((*list)->begin(), (*list)->end(), is_valid);
  }
  const auto* named = value.get_if<std::shared_ptr<Args>>();
  if (!named) return false;
  const auto& items = (*named)->items();
  return std::all_of(items.begin(), items.end(), [&](const auto& i) { return is_valid(i.second); });
}

struct ArgKind {
  const char* name;
  const char* expected;
  bool (*accepts)(const Value&);
  bool shows_value = true;  // whether messages show the value, or only its kind
};

const ArgKind kArgKinds[] = {
    {"number", "a number or a tensor",
     [](const Value& value) { return is_plain_number(value) || is_symbolic(value); }},
    {"plain number", "a number", is_plain_number},
    {"whole number", "a whole number", is_whole_number},
    {"count", "a positive whole number", is_count},
    {"probability", "a probability from 0 to below 1", is_probability},
    {"flag", "TRUE or FALSE", is_flag},
    {"string", "a single string", is_string},
    {"path", "a single string", is_string},
    {"choice", "", is_string},
    {"type", "the name of a type", is_string},
    {"feature", "the name of a feature", is_string},
    {"function", "a function", is_callable},
    {"partitioner", "a function of a shape and a type, or NULL", is_callable},
    {"tensor", "a tensor or its name", is_tensor_or_name, false},
    {"tensors", "names of tensors or a named list of tensors",
     [](const Value& value) {
       return is_tensor_or_name(value) || are_all(value, is_tensor_or_name);
     },
     false},
    {"summaries", "a summary, its name or a list of these",
     [](const Value& value) {
       return is_tensor_or_name(value) || are_all(value, is_tensor_or_name);
     },
     false},
    // The embedding language checks these kinds. The core accepts any value.
    {"any", "", nullptr},
    {"initializer", "a function", nullptr},
    {"numbers", "numbers", nullptr},
    {"vector", "numbers", nullptr},
    {"probabilities", "numbers between 0 and 1", nullptr},
    {"shape", "positive whole numbers", nullptr},
    {"widths", "positive whole numbers, one for each layer", nullptr},
    {"words", "one or more strings or integers", nullptr},
    {"features", "names of features", nullptr},
    {"class words", "a character vector with one label per class", nullptr},
    {"class weights", "a non-negative number for each class", nullptr},
    {"column", "a feature column", nullptr},
    {"column or name", "a feature column", nullptr},
    {"columns", "feature columns", nullptr},
    {"columns or names", "categorical columns or names of features", nullptr},
    {"weight column", "the name of a feature or a numeric column", nullptr},
    {"activation", "a function or the name of a function in tf$nn", nullptr},
    {"optimizer", "an optimizer, its name or a function", nullptr},
    {"head", "a head, such as the result of binary_class_head()", nullptr},
    {"heads", "a list of heads", nullptr},
    {"warm start", "a folder, a checkpoint or warm_start_settings()", nullptr},
    {"formula", "a formula", nullptr},
    {"data", "a data frame", nullptr},
    {"configuration", "an object made by `run_config()`", nullptr},
    {"unsupported", "", nullptr},
    {"saver", "", nullptr},
    {"scaffold", "", nullptr},
    {"listeners", "", nullptr},
};

// Returns NULL for a kind that kArgKinds lacks. Such a kind is an object of the core ("dataset").
const ArgKind* find_kind(const ArgSpec& spec) {
  const std::string name = spec.kind.substr(0, spec.kind.find('('));
  for (const ArgKind& kind : kArgKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

// Describes a string, a flag or a number by its value, any other value by its kind.
std::string describe_value(const Value& value) {
  double x;
  if (const auto* text = value.get_if<std::string>()) return str_cat('"', *text, '"');
  if (const auto* flag = value.get_if<bool>()) return *flag ? "TRUE" : "FALSE";
  if (value_number(value, &x)) return std::isnan(x) ? "NA" : str_cat(x);
  return value.kind();
}

bool is_valid_choice(const ArgSpec& spec, const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text && std::find(spec.choices.begin(), spec.choices.end(), *text) != spec.choices.end();
}

void check_argument(const ArgSpec& spec, const Value& value, const Args& args) {
  auto throw_with = [&](const std::string& expected, const std::string& actual) {
    invalid_argument(args.label(spec.name), " must be ", expected, ", not ", actual, ".");
  };
  if (value.is_null() && spec.allows_null) return;
  const ArgKind* kind = find_kind(spec);
  if (!kind && value.kind() != "a " + spec.kind)
    throw_with("a " + spec.kind, describe_value(value));
  if (!kind || !kind->accepts) return;
  if (!kind->accepts(value) || (!spec.choices.empty() && !is_valid_choice(spec, value))) {
    throw_with(describe_expected(spec), kind->shows_value ? describe_value(value) : value.kind());
  }
  double x;
  if (!value_number(value, &x)) return;
  constexpr double kMaxExactInteger = 9007199254740992;  // 2^53
  const bool is_whole = kind->accepts == is_whole_number || kind->accepts == is_count;
  if (is_whole && std::abs(x) > kMaxExactInteger) {
    throw_with("a whole number of at most 2^53", describe_value(value));
  }
  if (spec.range.empty()) return;
  const bool in_range = (spec.is_open_below ? x > spec.low : x >= spec.low) &&
                        (spec.is_open_above ? x < spec.high : x <= spec.high);
  if (!in_range) throw_with(describe_range(spec), str_cat(x));
}

}  // namespace

std::string describe_expected(const ArgSpec& spec) {
  if (!spec.choices.empty()) return str_cat("one of \"", str_join(spec.choices, "\", \""), "\"");
  const ArgKind* kind = find_kind(spec);
  return kind ? kind->expected : "a " + spec.kind;
}

Args declared_arguments(const std::vector<ArgSpec>& specs, const Args& args) {
  Args own(args.owner());
  for (const ArgSpec& spec : specs) {
    if (const Value* value = args.find(spec.target)) own.set(spec.target, *value);
  }
  return own;
}

void check_arguments(const std::vector<ArgSpec>& specs, const Args& args) {
  for (const auto& item : args.items()) {
    // NULL equals a missing argument
    bool is_known = item.first == "type" || item.second.is_null();
    for (const ArgSpec& spec : specs) {
      if (spec.target != item.first) continue;
      is_known = true;
      check_argument(spec, item.second, args);
    }
    if (!is_known) invalid_argument("Unused argument ", args.label(item.first), ".");
  }
  for (const ArgSpec& spec : specs) {
    if (spec.is_binding_only || !spec.fallback.empty() || spec.allows_null) continue;
    if (!args.has(spec.target)) invalid_argument(args.label(spec.name), " is missing.");
  }
}

}  // namespace runhooks
