// What lives here: what canned models compute their logits with: a linear model, a DNN, of feature columns.
// Who may use it: canned model functions.
// What it must not know: heads, optimizers, R.
#pragma once

#include <string>
#include <vector>

#include "columns/feature_column.h"
#include "estimators/model_traits.h"

namespace runhooks {

// In the current variable scope, "linear", which gets a partitioner.
Output linear_logits(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     int64_t units,
                     const Args& args);

// Where checkpoints have what linear_logits() makes in the variable scope `scope`.
Coefficients linear_coefficients(const std::string& scope, const std::vector<ColumnPtr>& columns);

// The arguments of a DNN under the names of its estimator: "hidden_units" or "dnn_hidden_units".
struct DnnArguments {
  std::vector<int64_t> hidden_units;
  Value activation_fn;
  double dropout = 0;
  bool batch_norm = false;
  Partitioner input_layer_partitioner;

  DnnArguments(const Args& args, const std::string& prefix);
};

// In the current variable scope, "dnn", which gets a partitioner.
Output dnn_logits(Graph& graph,
                  const Features& features,
                  const std::vector<ColumnPtr>& columns,
                  int64_t units,
                  const DnnArguments& arguments,
                  Mode mode);

// "<tag>/fraction_of_zero_values" and the histogram "<tag>/activation".
void add_layer_summary(Graph& graph, Output values, const std::string& tag);

}  // namespace runhooks
