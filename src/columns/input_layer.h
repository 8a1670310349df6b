// The input layer, which concatenates the dense tensors of feature columns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"

namespace runhooks {

struct InputLayer {
  Output tensor;  // float32 [batch, sum of widths]
  // The variables of each column, in column order (cols_to_vars).
  std::vector<std::pair<std::string, std::vector<VariablePtr>>> variables;
};

struct InputLayerOptions {
  bool trainable = true;
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// tf.feature_column.input_layer: concatenates columns by name, in variable scope "input_layer"
// (made unique). Creates reference variables, partitioned by the scope's partitioner.
InputLayer input_layer(Graph& graph,
                       const Features& features,
                       const std::vector<ColumnPtr>& columns,
                       const InputLayerOptions& options = {});

// `name`, or the first free `name`_1, `name`_2, ...; how tf.variable_scope uses its default name.
std::string free_scope(Graph& graph, const std::string& name);

}  // namespace runhooks
