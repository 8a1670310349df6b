#include "estimators/heads/threshold_metrics.h"

#include <cstdio>

#include "base/number_text.h"

namespace runhooks {

namespace {

// Converts the value of a metric with one threshold from a vector of length 1 to a scalar.
Metric as_scalar(Graph& graph, Metric metric) {
  metric.value = graph.op("Reshape", {metric.value, graph.int_vector({}, "shape")});
  return metric;
}

}  // namespace

Named<Metric> area_metrics(Graph& graph,
                           Output labels,
                           Output probabilities,
                           Output weights,
                           const std::string& summation_method) {
  AucOptions roc, pr;
  roc.summation_method = pr.summation_method = summation_method;
  pr.curve = "PR";
  return {{"auc", auc_metric(graph, labels, probabilities, weights, roc, "auc")},
          {"auc_precision_recall",
           auc_metric(graph, labels, probabilities, weights, pr, "auc_precision_recall")}};
}

Named<Metric> threshold_metrics(Graph& graph,
                                Output labels,
                                Output probabilities,
                                Output weights,
                                const std::vector<float>& thresholds) {
  Named<Metric> all;
  for (const float threshold : thresholds) {
    const std::string suffix =
        format_text("/positive_threshold_%g", static_cast<double>(threshold));
    const Output limit = graph.scalar(DType::kFloat32, threshold, "threshold");
    const Output is_above = graph.op("Greater", {probabilities, limit});
    const Output predicted_class = graph.op("Cast", {is_above}).attr("DstT", DType::kFloat32);
    const std::string accuracy = "accuracy" + suffix;
    const std::string precision = "precision" + suffix;
    const std::string recall = "recall" + suffix;
    all.emplace_back(accuracy, accuracy_metric(graph, labels, predicted_class, weights, accuracy));
    all.emplace_back(precision, as_scalar(graph, precision_at_thresholds_metric(
                                                     graph, labels, probabilities, {threshold},
                                                     weights, precision)));
    all.emplace_back(recall,
                     as_scalar(graph, recall_at_thresholds_metric(graph, labels, probabilities,
                                                                  {threshold}, weights, recall)));
  }
  return all;
}

}  // namespace runhooks
