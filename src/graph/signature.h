// Signature: the names under `tf`, the arguments and the defaults of an op or a graph function.
#pragma once

#include <string>
#include <vector>

#include "graph/arg_spec.h"
#include "graph/op_registry.h"

namespace runhooks {

// Parsed from text such as "nn.moments(x, axes, keepdims = NULL, keep_dims as keepdims = NULL)".
// Several names are separated by commas. Names that begin with "_" are hidden from scripts.
struct Signature {
  std::vector<std::string> endpoints;
  std::vector<ArgSpec> arguments;

  const ArgSpec* find(const std::string& name) const;
};

// Throws kInternal for invalid text.
Signature parse_signature(const std::string& text);

// All signatures of an op. Endpoints without an explicit signature get one derived as in
// TensorFlow: inputs, required attributes, optional attributes, `name`.
std::vector<Signature> signatures_of(const OpDef& def);

}  // namespace runhooks
