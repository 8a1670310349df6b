// Streaming metrics (tf.metrics): variables that batches update, and the value computed from them.
#pragma once

#include <string>

#include "graph/variable.h"

namespace runhooks {

struct Metric {
  Output value;
  Operation* update = nullptr;
};

// Each metric opens a name scope `name` for its operations and variables. Weights are optional and
// broadcast to the values. Without any batch the value is 0 unless stated otherwise. Metrics that
// only scripts use are registered next to their definitions (nn/metric_call.h).

Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name = "mean");
// The fraction of predictions equal to the labels.
Metric accuracy_metric(Graph& graph,
                       Output labels,
                       Output predictions,
                       Output weights,
                       const std::string& name = "accuracy");
// Nonzero labels and predictions count as TRUE.
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
// At probability thresholds; greater is positive.
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

// --- helpers

// A local variable of zeros that accumulates batches, in the current name scope.
VariablePtr metric_variable(Graph& graph,
                            const std::string& name,
                            const Shape& shape = Shape(),
                            DType dtype = DType::kFloat32);
// The variable after adding `amount`.
Output add_to_variable(Graph& graph, const VariablePtr& variable, Output amount);
// The weights broadcast to the values' shape; ones if absent.
Output spread_weights(Graph& graph, Output weights, Output values);
Metric make_metric(Output value, Output update);
void check_compatible_shapes(Output labels, Output predictions);

}  // namespace runhooks
