// ArgSpec (name, default, type and range of an argument) and its parser. Hooks, optimizers,
// datasets, columns, heads, estimators and `tf` functions declare their arguments this way.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// Parsed from a line such as
//   "beta1 = 0.9: number in [0, 1]; kept. Decay rate of the mean of the gradients."
// The parts are: name, optional core name ("num_buckets as number_buckets"), default as R code,
// kind and range, flags ("kept", "apart") and documentation. All except the name are optional. An
// argument without documentation is internal, and R constructors do not have it. NULL is valid if
// it is the default or if the kind ends in "or NULL".
struct ArgSpec {
  std::string name;
  std::string target;    // the core name; arguments with the same target are aliases
  std::string fallback;  // the default as R code; empty: the argument is required
  bool is_null_good = false;
  std::string kind;   // the type: "number" (or a tensor), "flag", "tensors", "choice", ...
  std::string range;  // "[0, 1]", "(0, Inf)" or empty
  std::vector<std::string> choices;  // for the kind "choice", written "one of 'sum', 'mean'"
  std::string doc;
  double low = 0, high = 0;
  bool is_open_below = false, is_open_above = false;
  // The contents or the meaning of checkpoints depends on it, so it must not change while a model
  // directory is in use.
  bool is_kept = false;
  // Only the language bindings read it; the core does not receive it.
  bool is_apart = false;
};
// Throws kInternal for an invalid line.
ArgSpec parse_arg_spec(const std::string& line);
// Parses names and defaults: "x, axis = NULL, keep_dims as keepdims = NULL".
std::vector<ArgSpec> parse_arg_list(const std::string& text);

// Splits at commas outside of parentheses and quotes, and trims the parts.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace runhooks
