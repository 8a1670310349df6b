// input_layer(): concatenates the tensors of dense feature columns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"

namespace runhooks {

struct InputLayer {
  Output tensor;  // float32 [batch, sum of widths]
  // The variables of each column, in column order (TensorFlow's cols_to_vars).
  std::vector<std::pair<std::string, std::vector<VariablePtr>>> variables;
};

struct InputLayerOptions {
  bool trainable = true;
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// tf.feature_column.input_layer: concatenates the columns in the order of their names. The variable
// scope is "input_layer", made unique. Variables are reference variables, split by the partitioner
// of the scope.
InputLayer input_layer(Graph& graph,
                       const Features& features,
                       const std::vector<ColumnPtr>& columns,
                       const InputLayerOptions& options = {});

// Makes a scope name unique in the graph, like the default_name of tf.variable_scope: `name`,
// `name`_1, `name`_2, ...
std::string free_scope(Graph& graph, const std::string& name);

}  // namespace runhooks
