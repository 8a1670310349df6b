// Signature, how scripts call an op or a graph function: names below `tf`, arguments, defaults.
#pragma once

#include <string>
#include <vector>

#include "graph/arg_spec.h"
#include "graph/op_registry.h"

namespace runhooks {

// "nn.moments(x, axes, keepdims = NULL, keep_dims as keepdims = NULL)"; several names stand before
// the parenthesis with commas between them. Names that begin with "_" are not shown to scripts.
struct Signature {
  std::vector<std::string> endpoints;
  std::vector<ArgSpec> arguments;  // their kinds are those of the core's own

  const ArgSpec* find(const std::string& name) const;
};

// Throws where the text is none.
Signature parse_signature(const std::string& text);

// All signatures of an op: those it names itself, and for its other endpoints the one that follows
// from its interface as in TensorFlow: inputs, attributes that must be given, the other ones, name.
std::vector<Signature> signatures_of(const OpDef& def);

}  // namespace runhooks
