// Computes the logits of canned models from feature columns, with a linear model or a DNN.
#pragma once

#include <string>
#include <vector>

#include "columns/feature_column.h"
#include "estimators/models/model_traits.h"

namespace runhooks {

// Computes the logits of a linear model. Creates variables in the current variable scope, "linear",
// and sets the partitioner of this scope.
Output linear_logits(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     int64_t units,
                     const Args& args);

Coefficients linear_coefficients(const std::string& scope, const std::vector<ColumnPtr>& columns);

// The arguments of a DNN; `prefix` is "" or "dnn_", as in "dnn_hidden_units".
struct DnnArguments {
  std::vector<int64_t> hidden_units;
  Value activation_fn;
  double dropout = 0;
  bool batch_norm = false;
  Partitioner input_layer_partitioner;

  DnnArguments(const Args& args, const std::string& prefix);
};

// Computes the logits of a DNN. Creates variables in the current variable scope, "dnn", and sets
// the partitioner of this scope.
Output dnn_logits(Graph& graph,
                  const Features& features,
                  const std::vector<ColumnPtr>& columns,
                  int64_t units,
                  const DnnArguments& arguments,
                  Mode mode);

// Adds summaries of a layer's values: their histogram and the fraction of zeros.
void add_layer_summary(Graph& graph, Output values, const std::string& tag);

}  // namespace runhooks
