// ArgSpec, what one argument of a thing may be, read from a line of text: the one language for the
// arguments of hooks, optimizers, datasets, columns, heads, estimators and functions of `tf`.
#pragma once

#include <string>
#include <vector>

namespace runhooks {

// From a line such as
//   "beta1 = 0.9: number in [0, 1]; kept. How fast the mean of the gradients forgets."
// in the order: name, what the core calls it ("num_buckets as number_buckets"), default in R's
// words, kind and range, what else there is to say of it, words for people. All but the name may be
// missing. An argument without words is the core's own: no constructor has it. NULL is good where
// it is the default, or where the kind says "or NULL".
struct ArgSpec {
  std::string name;
  std::string target;    // two arguments of one target are names of one thing
  std::string fallback;  // empty: it must be given
  bool is_null_good = false;
  std::string kind;   // what a value must be: "number" (or a tensor), "flag", "tensors", ...
  std::string range;  // "[0, 1]", "(0, Inf)" or empty
  std::vector<std::string> choices;  // of the kind "one of 'sum', 'mean'", which is called "choice"
  std::string doc;
  double low = 0, high = 0;
  bool is_open_below = false, is_open_above = false;
  // Checkpoints depend on it, or it says what their numbers mean: a model's folder must agree.
  bool is_kept = false;
  // It is not part of what the core makes things of: the embedding language reads it.
  bool is_apart = false;
};
// Throws where the line is none.
ArgSpec parse_arg_spec(const std::string& line);
// Names and defaults alone: "x, axis = NULL, keep_dims as keepdims = NULL".
std::vector<ArgSpec> parse_arg_list(const std::string& text);

// At commas that are in no parenthesis and no quotes, each part trimmed.
std::vector<std::string> split_at_commas(const std::string& text);

}  // namespace runhooks
