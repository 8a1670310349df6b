// Signature: names below `tf`, arguments and defaults of an op or a graph function for scripts.
#pragma once

#include <string>
#include <vector>

#include "graph/arg_spec.h"
#include "graph/op_registry.h"

namespace runhooks {

// A parsed signature such as "nn.moments(x, axes, keepdims = NULL, keep_dims as keepdims = NULL)".
// Several function names before "(" are separated by commas. Names that begin with "_" are hidden
// from scripts.
struct Signature {
  std::vector<std::string> endpoints;
  std::vector<ArgSpec> arguments;

  const ArgSpec* find(const std::string& name) const;
};

// Throws if the text cannot be parsed.
Signature parse_signature(const std::string& text);

// Returns all signatures of an op: those that it declares, and a default signature for its other
// endpoints. The default has TensorFlow's order: inputs, required attributes, optional attributes,
// name.
std::vector<Signature> signatures_of(const OpDef& def);

}  // namespace runhooks
