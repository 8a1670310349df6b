// Helpers that layers of tf.layers share: names, parameters and argument parsing.
#pragma once

#include <functional>
#include <string>

#include "graph/args.h"
#include "nn/layers.h"

namespace runhooks {

// Returns `name`. If it is empty, returns `otherwise`, with a suffix _1, _2, ... if variables with
// this name exist.
std::string layer_name(Graph& graph, const std::string& name, const char* otherwise);
// Creates a parameter in the layer's scope and returns it as one tensor.
Output parameter(Graph& graph,
                 const std::string& name,
                 const Shape& shape,
                 const VariableOptions& options,
                 const TensorFunction& regularizer);

// Adds a layer in the variable scope `name`: creates the kernel and the optional bias, calls
// `multiply(kernel)`, then applies the bias, the activation and the activity regularizer.
Output layer_with_kernel(Graph& graph,
                         const std::string& name,
                         const DenseOptions& options,
                         DType dtype,
                         const Shape& kernel_shape,
                         int64_t units,
                         const std::function<Output(Output kernel)>& multiply);

// Reads an argument that is the name of a function in tf.nn or a function of a tensor; NULL if
// missing.
TensorFunction function_argument(const Args& args, const std::string& name);
// Reads the argument `reuse`: TRUE, FALSE or "auto" (tf.AUTO_REUSE).
VariableStore::Reuse reuse_argument(const Args& args);
// Reads the arguments that all layers with a kernel share.
DenseOptions dense_options(const Args& args);

}  // namespace runhooks
