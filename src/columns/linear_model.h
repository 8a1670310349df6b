// The linear model of feature columns: a weighted sum of each column, and a bias.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"
#include "graph/variable.h"

namespace runhooks {

// A column without weights; its tensor, [batch, 1] or [batch, units], is added to the logits.
class FixedColumn : public virtual FeatureColumn {};

struct LinearModel {
  Output logits;  // [batch, units]
  std::vector<VariablePtr> weights;  // all partitions of all columns' weights
  std::vector<VariablePtr> bias;
  // By column name, and "bias" (cols_to_vars in TensorFlow).
  std::vector<std::pair<std::string, std::vector<VariablePtr>>> variables;
};

struct LinearModelOptions {
  int64_t units = 1;
  // How to combine the weights of several ids in one example: "sum", "mean" or "sqrtn".
  std::string sparse_combiner = "sum";
  bool trainable = true;
  bool has_bias = true;  // if false, the bias is fixed at 0
  bool may_be_bias_alone = false;  // accept an empty list of columns
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// Ones of shape [batch, 1], with the batch size of the features.
Output ones_of_rows(Graph& graph, const Features& features);

// tf.feature_column.linear_model as the canned linear estimators use it. Variables
// "linear_model/<column>/weights" and "linear_model/bias_weights" are resource variables that start
// at 0, split by the scope's partitioner. A categorical column has one weight per bucket, a dense
// one per element.
LinearModel linear_model(Graph& graph,
                         const Features& features,
                         const std::vector<ColumnPtr>& columns,
                         const LinearModelOptions& options);

}  // namespace runhooks
