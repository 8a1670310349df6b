// What lives here: the linear model of feature columns: a weighted sum of each column, and a bias.
// Who may use it: estimators, the bindings.
// What it must not know: losses, optimizers, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "columns/feature_column.h"
#include "graph/variable.h"

namespace runhooks {

// A column without a weight: what it gives, [batch, 1] or [batch, units], is added to the logits.
class FixedColumn : public virtual FeatureColumn {};

struct LinearModel {
  Output logits;                     // [batch, units]
  std::vector<VariablePtr> weights;  // parts of all columns' weights
  std::vector<VariablePtr> bias;
  // By column, and "bias" (tf.feature_column's cols_to_vars).
  std::vector<std::pair<std::string, std::vector<VariablePtr>>> variables;
};

struct LinearModelOptions {
  int64_t units = 1;
  // How the weights of the several ids of an example are combined: "sum", "mean" or "sqrtn".
  std::string sparse_combiner = "sum";
  bool trainable = true;
  bool has_bias = true;            // else the bias stays 0
  bool may_be_bias_alone = false;  // of no columns the same for all rows that features have
  std::vector<std::string> collections = {collection_keys::kGlobalVariables};
};

// 1 for each row of the features, [batch, 1].
Output ones_of_rows(Graph& graph, const Features& features);

// tf.feature_column.linear_model as the canned linear estimators use it: variables
// "linear_model/<column>/weights" and "linear_model/bias_weights", starting from 0, as resource
// variables in the parts that the scope's partitioner makes. A categorical column has a weight for
// each bucket, a dense one for each of its numbers.
LinearModel linear_model(Graph& graph,
                         const Features& features,
                         const std::vector<ColumnPtr>& columns,
                         const LinearModelOptions& options);

}  // namespace runhooks
