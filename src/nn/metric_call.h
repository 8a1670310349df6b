// MetricCall: the arguments of a function of tf$metrics, and the registration of such functions.
#pragma once

#include <string>
#include <vector>

#include "graph/graph_function.h"
#include "nn/metric.h"

namespace runhooks {

struct MetricInputs {
  Output labels, predictions, weights;
};

// Reading an argument may add operations, so metrics read all arguments before they open their name
// scope.
class MetricCall {
 public:
  MetricCall(Graph& graph, const Args& args) : graph(graph), args(args) {}
  Graph& graph;
  const Args& args;

  Output values() const { return tensor_argument(graph, args, "values"); }
  Output weights() const;
  // Return labels, predictions and weights, unchanged.
  MetricInputs unchanged_inputs() const;
  // Like unchanged_inputs(), but drops a last dimension of 1 if the other tensor lacks it, as in
  // TensorFlow: predictions [batch, 1] then match labels [batch].
  MetricInputs inputs() const;
  std::vector<float> thresholds() const;
  std::string name(const char* otherwise) const { return args.text("name", otherwise); }
};

using MetricFunction = Metric (*)(const MetricCall&);

// Adds the metric to the requested collections and returns the pair of value and update.
Value add_metric(const MetricCall& call, MetricFunction function);

template <MetricFunction kFunction>
Value call_metric(Graph& graph, const Args& args) {
  return add_metric(MetricCall(graph, args), kFunction);
}

// RUNHOOKS_REGISTER_METRIC("mean_iou(labels, predictions, num_classes, weights = NULL", "...", f)
// registers tf$metrics$mean_iou() with these arguments and those that all metrics have.
#define RUNHOOKS_REGISTER_METRIC(signature, summary, ...)                                     \
  RUNHOOKS_REGISTER_FUNCTION("metrics." signature                                             \
                             ", metrics_collections = NULL, updates_collections = NULL, name" \
                             " = NULL)",                                                      \
                             summary, call_metric<__VA_ARGS__>)

}  // namespace runhooks
