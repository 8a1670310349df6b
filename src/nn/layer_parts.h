// What lives here: what layers are made of: names, parameters, and how scripts give their arguments.
// Who may use it: nn/, for layers of tf.layers.
// What it must not know: any particular layer, R.
#pragma once

#include <string>

#include "graph/args.h"
#include "nn/layers.h"

namespace runhooks {

// `otherwise`, with _1, _2, ... where variables of that name are there already.
std::string layer_name(Graph& graph, const std::string& name, const char* otherwise);
// A parameter in the layer's scope as one tensor.
Output parameter(Graph& graph,
                 const std::string& name,
                 const Shape& shape,
                 const VariableOptions& options,
                 const TensorFunction& regularizer);

// What follows the product of a layer: the bias, which may be none, the activation, its regularizer.
Output finish_layer(Graph& graph, Output x, Output bias, const DenseOptions& options);

// A name in tf.nn or a function of a tensor; none where it is missing.
TensorFunction function_argument(const Args& args, const std::string& name);
// TRUE, FALSE or the text "auto" (tf.AUTO_REUSE).
VariableStore::Reuse reuse_argument(const Args& args);
// What layers with a kernel have in common, by the names of tf.layers.
DenseOptions dense_options(const Args& args);

}  // namespace runhooks
