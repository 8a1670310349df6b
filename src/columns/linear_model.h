// linear_model(): the sum of the weighted feature columns and a bias.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"
#include "graph/variable.h"

namespace runhooks {

// A column without weights; its tensor, [batch, 1] or [batch, units], is added to the logits.
class UnweightedColumn : public virtual FeatureColumn {};

struct LinearModel {
  Output logits;                     // [batch, units]
  std::vector<VariablePtr> weights;  // all partitions of all columns' weights
  std::vector<VariablePtr> bias;
  // The variables of each column by its name, and of "bias" (TensorFlow's cols_to_vars).
  std::vector<std::pair<std::string, std::vector<VariablePtr>>> variables;
};

struct LinearModelOptions {
  int64_t units = 1;
  // How the weights of several ids of an example are combined: "sum", "mean" or "sqrtn".
  std::string sparse_combiner = "sum";
  bool trainable = true;
  bool has_bias = true;            // if false, the bias is fixed at 0
  bool allow_no_columns = false;  // accept models without weights
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// Returns a tensor of ones with shape [batch, 1] and the batch size of the features.
Output ones_per_example(Graph& graph, const Features& features);

// Implements tf.feature_column.linear_model as TensorFlow's linear estimators use it. The variables
// "linear_model/<column>/weights" and "linear_model/bias_weights" are resource variables that start
// at 0 and are split by the partitioner of the scope. A categorical column has one weight per
// bucket, a dense column one per element.
LinearModel linear_model(Graph& graph,
                         const Features& features,
                         const std::vector<ColumnPtr>& columns,
                         const LinearModelOptions& options);

}  // namespace runhooks
