// Streaming metrics (tf.metrics): each batch updates variables, from which the value is computed.
#pragma once

#include <string>

#include "graph/variable.h"

namespace runhooks {

struct Metric {
  Output value;
  Operation* update = nullptr;
};

// Each metric opens a name scope `name` for its operations and variables. Weights are optional and
// broadcast to the values. Before the first batch, the value is 0 unless stated otherwise. Metrics
// that only scripts use are not declared here (nn/metric_call.h).

Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name = "mean");
// Measures the fraction of predictions equal to the labels.
Metric accuracy_metric(Graph& graph,
                       Output labels,
                       Output predictions,
                       Output weights,
                       const std::string& name = "accuracy");
// Labels and predictions count as TRUE if they are nonzero.
Metric precision_metric(Graph& graph,
                        Output labels,
                        Output predictions,
                        Output weights,
                        const std::string& name = "precision");
Metric recall_metric(Graph& graph,
                     Output labels,
                     Output predictions,
                     Output weights,
                     const std::string& name = "recall");
// Measures the precision at each threshold. A prediction is positive if it is greater than the
// threshold.
Metric precision_at_thresholds_metric(Graph& graph,
                                      Output labels,
                                      Output predictions,
                                      const std::vector<float>& thresholds,
                                      Output weights,
                                      const std::string& name = "precision_at_thresholds");
Metric recall_at_thresholds_metric(Graph& graph,
                                   Output labels,
                                   Output predictions,
                                   const std::vector<float>& thresholds,
                                   Output weights,
                                   const std::string& name = "recall_at_thresholds");

struct AucOptions {
  int64_t num_thresholds = 200;
  std::string curve = "ROC";                     // or "PR"
  std::string summation_method = "trapezoidal";  // careful_interpolation, minoring, majoring
};
Metric auc_metric(Graph& graph,
                  Output labels,
                  Output predictions,
                  Output weights,
                  const AucOptions& options = {},
                  const std::string& name = "auc");

// Creates a local variable, initially zero, that accumulates batches.
VariablePtr metric_variable(Graph& graph,
                            const std::string& name,
                            const Shape& shape = Shape(),
                            DType dtype = DType::kFloat32);
// Adds `amount` to a variable; returns the variable's new value.
Output add_to_variable(Graph& graph, const VariablePtr& variable, Output amount);
// Broadcasts the weights to the shape of the values; returns ones if there are no weights.
Output broadcast_weights(Graph& graph, Output weights, Output values);
Metric make_metric(Output value, Output update);

}  // namespace runhooks
