// What lives here: the linear model of feature columns: a weighted sum of each column, and a bias.
// Who may use it: estimators, the bindings.
// What it must not know: losses, optimizers, R.
#pragma once

#include <vector>

#include "columns/feature_column.h"
#include "graph/variable.h"

namespace runhooks {

struct LinearModel {
  Output logits;                     // [batch, units]
  std::vector<VariablePtr> weights;  // parts of all columns' weights
  std::vector<VariablePtr> bias;
};

// tf.feature_column.linear_model as the canned linear estimators use it: variables
// "linear_model/<column>/weights" and "linear_model/bias_weights", starting from 0, as resource
// variables in the parts that the scope's partitioner makes.
LinearModel linear_model(Graph& graph,
                         const Features& features,
                         const std::vector<ColumnPtr>& columns,
                         int64_t units);

// The parts of a partitioned variable as one tensor, which has the variable's full name.
Output whole_value(Graph& graph, const std::vector<VariablePtr>& parts);

}  // namespace runhooks
