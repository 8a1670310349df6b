// What lives here: the input layer: the dense tensors of feature columns side by side.
// Who may use it: estimators, the bindings.
// What it must not know: losses, optimizers, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"

namespace runhooks {

struct InputLayer {
  Output tensor;  // float32 [batch, sum of widths]
  // The variables that each column made, in the order of the columns (cols_to_vars).
  std::vector<std::pair<std::string, std::vector<VariablePtr>>> variables;
};

struct InputLayerOptions {
  bool trainable = true;
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// tf.feature_column.input_layer: columns in the order of their names, in the variable scope
// "input_layer" (or "input_layer_1", ... where that is taken). Variables are reference variables in
// the parts that the scope's partitioner makes.
InputLayer input_layer(Graph& graph,
                       const Features& features,
                       const std::vector<ColumnPtr>& columns,
                       const InputLayerOptions& options = {});

// `name`, or `name`_1, ... : the first whose name scope is free here, as tf.variable_scope takes
// its default name.
std::string free_scope(Graph& graph, const std::string& name);

}  // namespace runhooks
