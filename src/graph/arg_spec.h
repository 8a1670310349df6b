// ArgSpec: the declaration of one argument of a hook, optimizer, dataset, column, head, estimator
// or function of `tf`, parsed from one line of text.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// Parsed from a line of text, for example
//   "beta1 = 0.9: number in [0, 1]; kept. How fast the mean of the gradients forgets."
// The order is: name, name in the core ("num_buckets as number_buckets"), default as R code, kind
// and range, flags, description. All parts except the name are optional. The flags are "kept"
// (affects_checkpoints) and "apart" (is_binding_only). Arguments without a description are
// internal, and no constructor has them. NULL is allowed if it is the default or the kind ends with
// "or NULL".
struct ArgSpec {
  std::string name;
  std::string target;    // name in the core; two arguments with the same target are aliases
  std::string fallback;  // default as R code; empty for a required argument
  bool allows_null = false;
  std::string kind;   // kind of value: "number" (or a tensor), "flag", "tensors", ...
  std::string range;  // "[0, 1]", "(0, Inf)" or empty
  std::vector<std::string> choices;  // for the kind "choice", declared as "one of 'sum', 'mean'"
  std::string doc;
  double low = 0, high = 0;
  bool is_open_below = false, is_open_above = false;
  // Checkpoints depend on this argument, so the model directory must agree with it.
  bool affects_checkpoints = false;
  // Only the embedding language reads this argument; the core ignores it.
  bool is_binding_only = false;
};
// Throws if the line cannot be parsed.
ArgSpec parse_arg_spec(const std::string& line);
// Parses a list of arguments with names and defaults only: "x, axis = NULL, keep_dims as keepdims =
// NULL".
std::vector<ArgSpec> parse_arg_list(const std::string& text);

// Splits at commas outside of parentheses and quotes, and trims the parts.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace runhooks
