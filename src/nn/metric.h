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
// broadcast to the values. Without any batch the value is 0 unless stated otherwise.

// --- means

Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name = "mean");
// The fraction of predictions equal to the labels.
Metric accuracy_metric(Graph& graph,
                       Output labels,
                       Output predictions,
                       Output weights,
                       const std::string& name = "accuracy");
Metric mean_squared_error_metric(Graph& graph,
                                 Output labels,
                                 Output predictions,
                                 Output weights,
                                 const std::string& name = "mean_squared_error");
Metric root_mean_squared_error_metric(Graph& graph,
                                      Output labels,
                                      Output predictions,
                                      Output weights,
                                      const std::string& name = "root_mean_squared_error");
Metric mean_absolute_error_metric(Graph& graph,
                                  Output labels,
                                  Output predictions,
                                  Output weights,
                                  const std::string& name = "mean_absolute_error");
// The absolute error divided by `normalizer`; 0 where the normalizer is 0.
Metric mean_relative_error_metric(Graph& graph,
                                  Output labels,
                                  Output predictions,
                                  Output normalizer,
                                  Output weights,
                                  const std::string& name = "mean_relative_error");
// 1 - the mean inner product along `dim`; 1 without any batch.
Metric mean_cosine_distance_metric(Graph& graph,
                                   Output labels,
                                   Output predictions,
                                   int64_t dim,
                                   Output weights,
                                   const std::string& name = "mean_cosine_distance");
Metric percentage_below_metric(Graph& graph,
                               Output values,
                               double threshold,
                               Output weights,
                               const std::string& name = "percentage_below_threshold");
// The elementwise mean over batches of equal shape.
Metric mean_tensor_metric(Graph& graph,
                          Output values,
                          Output weights,
                          const std::string& name = "mean_tensor");

// --- binary confusion counts

enum class Outcome { kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives };
const char* outcome_name(Outcome outcome);
// Nonzero labels and predictions count as TRUE.
Metric count_metric(Graph& graph,
                    Outcome outcome,
                    Output labels,
                    Output predictions,
                    Output weights,
                    const std::string& name);
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

// --- binary metrics at probability thresholds; greater is positive

Metric count_at_thresholds_metric(Graph& graph,
                                  Outcome outcome,
                                  Output labels,
                                  Output predictions,
                                  const std::vector<float>& thresholds,
                                  Output weights,
                                  const std::string& name);
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
  std::string curve = "ROC";  // or "PR"
  std::string summation_method = "trapezoidal";  // careful_interpolation, minoring, majoring
};
Metric auc_metric(Graph& graph,
                  Output labels,
                  Output predictions,
                  Output weights,
                  const AucOptions& options = {},
                  const std::string& name = "auc");
Metric sensitivity_at_specificity_metric(Graph& graph,
                                         Output labels,
                                         Output predictions,
                                         double specificity,
                                         Output weights,
                                         int64_t num_thresholds = 200,
                                         const std::string& name = "sensitivity_at_specificity");
Metric specificity_at_sensitivity_metric(Graph& graph,
                                         Output labels,
                                         Output predictions,
                                         double sensitivity,
                                         Output weights,
                                         int64_t num_thresholds = 200,
                                         const std::string& name = "specificity_at_sensitivity");

// --- classes 0 ... num_classes - 1

// Its update returns the accuracy of each class.
Metric mean_per_class_accuracy_metric(Graph& graph,
                                      Output labels,
                                      Output predictions,
                                      int64_t num_classes,
                                      Output weights,
                                      const std::string& name = "mean_accuracy");
// Its update returns the confusion matrix, one row per label.
Metric mean_iou_metric(Graph& graph,
                       Output labels,
                       Output predictions,
                       int64_t num_classes,
                       Output weights,
                       const std::string& name = "mean_iou");

// --- metrics of the top k predictions; one or several label classes per row

struct AtKOptions {
  int64_t k = 1;
  int64_t class_id = -1;  // count this class only; -1: all
};
// NaN if nothing was counted.
Metric recall_at_k_metric(Graph& graph,
                          Output labels,
                          Output predictions,
                          const AtKOptions& options,
                          Output weights,
                          const std::string& name = "");
Metric precision_at_k_metric(Graph& graph,
                             Output labels,
                             Output predictions,
                             const AtKOptions& options,
                             Output weights,
                             const std::string& name = "");
Metric average_precision_at_k_metric(Graph& graph,
                                     Output labels,
                                     Output predictions,
                                     int64_t k,
                                     Output weights,
                                     const std::string& name = "");

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

}  // namespace runhooks
