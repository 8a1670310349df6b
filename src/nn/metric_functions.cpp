#include "graph/graph_function.h"
#include "nn/metric.h"

namespace runhooks {

namespace {

class Call {
 public:
  Call(Graph& graph, const Args& args) : graph(graph), args(args) {}
  Graph& graph;
  const Args& args;

  Output labels() const { return tensor_argument(graph, args, "labels"); }
  Output predictions() const { return tensor_argument(graph, args, "predictions"); }
  // As in TensorFlow, drops a trailing dimension of 1 that the other side lacks, so predictions
  // [batch, 1] match labels [batch].
  Output squeezed_labels() const { return squeezed(labels(), "predictions"); }
  Output squeezed_predictions() const { return squeezed(predictions(), "labels"); }
  Output values() const { return tensor_argument(graph, args, "values"); }
  Output weights() const {
    return tensor_argument_or_none(graph, args, "weights", DType::kFloat32);
  }
  std::string name(const char* otherwise) const { return args.text("name", otherwise); }
  std::vector<float> thresholds() const {
    std::vector<float> numbers;
    for (const Value& value : values_argument(args, "thresholds")) {
      double x;
      if (!value_number(value, &x)) {
        invalid_argument("`thresholds` must be numbers, not ", value.kind(), ".");
      }
      numbers.push_back(static_cast<float>(x));
    }
    if (numbers.empty()) invalid_argument("`thresholds` must be one number or more.");
    return numbers;
  }
  AtKOptions at_k() const { return {args.integer("k"), args.integer("class_id", -1)}; }

 private:
  Output squeezed(Output x, const char* other_name) const {
    const Value* value = args.find(other_name);
    const auto* other = value ? value->get_if<Output>() : nullptr;
    const Shape& shape = x.shape();
    if (!other || !shape.has_rank() || !other->shape().has_rank()) return x;
    const int rank = other->shape().rank();
    if (shape.rank() != rank + 1 || shape.dim(rank) != 1) return x;
    return graph.op("Squeeze", {x}).attr("squeeze_dims", std::vector<int64_t>{-1});
  }
};

// Adds the metric to the requested collections and returns the pair of value and update.
using MetricFunction = Metric (*)(const Call&);

template <MetricFunction kFunction>
Value call(Graph& graph, const Args& args) {
  const Metric metric = kFunction(Call(graph, args));
  const Output update = metric.update->output(0);
  for (const Value& name : values_argument(args, "metrics_collections")) {
    if (const auto* text = name.get_if<std::string>()) graph.add_to_collection(*text, metric.value);
  }
  for (const Value& name : values_argument(args, "updates_collections")) {
    if (const auto* text = name.get_if<std::string>()) graph.add_to_collection(*text, update);
  }
  return value_list({metric.value, update});
}

Metric mean(const Call& c) { return mean_metric(c.graph, c.values(), c.weights(), c.name("mean")); }
Metric accuracy(const Call& c) {
  return accuracy_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(), c.weights(),
                         c.name("accuracy"));
}
Metric mean_squared_error(const Call& c) {
  return mean_squared_error_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                   c.weights(), c.name("mean_squared_error"));
}
Metric root_mean_squared_error(const Call& c) {
  return root_mean_squared_error_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                        c.weights(), c.name("root_mean_squared_error"));
}
Metric mean_absolute_error(const Call& c) {
  return mean_absolute_error_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                    c.weights(), c.name("mean_absolute_error"));
}
Metric mean_relative_error(const Call& c) {
  const Output normalizer = tensor_argument(c.graph, c.args, "normalizer", DType::kFloat32);
  return mean_relative_error_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                    normalizer, c.weights(), c.name("mean_relative_error"));
}
Metric mean_cosine_distance(const Call& c) {
  return mean_cosine_distance_metric(c.graph, c.labels(), c.predictions(), c.args.integer("dim"),
                                     c.weights(), c.name("mean_cosine_distance"));
}
Metric percentage_below(const Call& c) {
  return percentage_below_metric(c.graph, c.values(), c.args.number("threshold"), c.weights(),
                                 c.name("percentage_below_threshold"));
}
Metric mean_tensor(const Call& c) {
  return mean_tensor_metric(c.graph, c.values(), c.weights(), c.name("mean_tensor"));
}
Metric precision(const Call& c) {
  return precision_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(), c.weights(),
                          c.name("precision"));
}
Metric recall(const Call& c) {
  return recall_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(), c.weights(),
                       c.name("recall"));
}
template <Outcome kOutcome>
Metric count(const Call& c) {
  return count_metric(c.graph, kOutcome, c.squeezed_labels(), c.squeezed_predictions(), c.weights(),
                      c.name(outcome_name(kOutcome)));
}
template <Outcome kOutcome>
Metric count_at_thresholds(const Call& c) {
  return count_at_thresholds_metric(c.graph, kOutcome, c.squeezed_labels(),
                                    c.squeezed_predictions(), c.thresholds(), c.weights(),
                                    c.name(outcome_name(kOutcome)));
}
Metric precision_at_thresholds(const Call& c) {
  return precision_at_thresholds_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                        c.thresholds(), c.weights(),
                                        c.name("precision_at_thresholds"));
}
Metric recall_at_thresholds(const Call& c) {
  return recall_at_thresholds_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                     c.thresholds(), c.weights(), c.name("recall_at_thresholds"));
}
Metric auc(const Call& c) {
  AucOptions options;
  options.num_thresholds = c.args.integer("num_thresholds", 200);
  options.curve = c.args.text("curve", "ROC");
  options.summation_method = c.args.text("summation_method", "trapezoidal");
  return auc_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(), c.weights(), options,
                    c.name("auc"));
}
Metric sensitivity_at_specificity(const Call& c) {
  return sensitivity_at_specificity_metric(
      c.graph, c.squeezed_labels(), c.squeezed_predictions(), c.args.number("specificity"),
      c.weights(), c.args.integer("num_thresholds", 200), c.name("sensitivity_at_specificity"));
}
Metric specificity_at_sensitivity(const Call& c) {
  return specificity_at_sensitivity_metric(
      c.graph, c.squeezed_labels(), c.squeezed_predictions(), c.args.number("sensitivity"),
      c.weights(), c.args.integer("num_thresholds", 200), c.name("specificity_at_sensitivity"));
}
Metric mean_per_class_accuracy(const Call& c) {
  return mean_per_class_accuracy_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                                        c.args.integer("num_classes"), c.weights(),
                                        c.name("mean_accuracy"));
}
Metric mean_iou(const Call& c) {
  return mean_iou_metric(c.graph, c.squeezed_labels(), c.squeezed_predictions(),
                         c.args.integer("num_classes"), c.weights(), c.name("mean_iou"));
}
Metric recall_at_k(const Call& c) {
  return recall_at_k_metric(c.graph, c.labels(), c.predictions(), c.at_k(), c.weights(),
                            c.name(""));
}
Metric precision_at_k(const Call& c) {
  return precision_at_k_metric(c.graph, c.labels(), c.predictions(), c.at_k(), c.weights(),
                               c.name(""));
}
Metric average_precision_at_k(const Call& c) {
  return average_precision_at_k_metric(c.graph, c.labels(), c.predictions(), c.args.integer("k"),
                                       c.weights(), c.name(""));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean(values, weights = NULL, metrics_collections = NULL, updates_collections = NULL, "
    "name = NULL)",
    "The weighted mean.",
    call<mean>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_tensor(values, weights = NULL, metrics_collections = NULL, updates_collections = "
    "NULL, name = NULL)",
    "The weighted mean by element.",
    call<mean_tensor>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.accuracy(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The share of predictions that are right.",
    call<accuracy>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_squared_error(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The mean of the squared errors.",
    call<mean_squared_error>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.root_mean_squared_error(labels, predictions, weights = NULL, metrics_collections = "
    "NULL, updates_collections = NULL, name = NULL)",
    "Its square root.",
    call<root_mean_squared_error>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_absolute_error(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The mean of the absolute errors.",
    call<mean_absolute_error>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_relative_error(labels, predictions, normalizer, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The mean of the errors divided by the normalizer.",
    call<mean_relative_error>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_cosine_distance(labels, predictions, dim, weights = NULL, metrics_collections = "
    "NULL, updates_collections = NULL, name = NULL)",
    "The mean of 1 minus the cosine.",
    call<mean_cosine_distance>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.percentage_below(values, threshold, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The share of values below the threshold.",
    call<percentage_below>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.precision(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "Of what is predicted true the share that is.",
    call<precision>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.recall(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "Of what is true the share that is predicted.",
    call<recall>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.precision_at_thresholds(labels, predictions, thresholds, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "Precision at each threshold.",
    call<precision_at_thresholds>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.recall_at_thresholds(labels, predictions, thresholds, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "Recall at each threshold.",
    call<recall_at_thresholds>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.sensitivity_at_specificity(labels, predictions, specificity, weights = NULL, "
    "num_thresholds = 200, metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "Sensitivity where the specificity is the given one.",
    call<sensitivity_at_specificity>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.specificity_at_sensitivity(labels, predictions, sensitivity, weights = NULL, "
    "num_thresholds = 200, metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "Specificity where the sensitivity is the given one.",
    call<specificity_at_sensitivity>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_per_class_accuracy(labels, predictions, num_classes, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The mean of the classes' accuracies.",
    call<mean_per_class_accuracy>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.mean_iou(labels, predictions, num_classes, weights = NULL, metrics_collections = "
    "NULL, updates_collections = NULL, name = NULL)",
    "The mean of the classes' intersection over union.",
    call<mean_iou>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.auc(labels, predictions, weights = NULL, num_thresholds = 200, metrics_collections = "
    "NULL, updates_collections = NULL, curve = 'ROC', name = NULL, summation_method = "
    "'trapezoidal', thresholds = NULL)",
    "The area under the curve ROC or PR.",
    call<auc>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.recall_at_k(labels, predictions, k, class_id = NULL, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "Recall of the k best predictions.",
    call<recall_at_k>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.precision_at_k, metrics.sparse_precision_at_k(labels, predictions, k, class_id = "
    "NULL, weights = NULL, metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "Precision of the k best predictions.",
    call<precision_at_k>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.average_precision_at_k, metrics.sparse_average_precision_at_k(labels, predictions, k, "
    "weights = NULL, metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The mean precision of the 1 to k best predictions.",
    call<average_precision_at_k>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.true_positives(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The number of true positives.",
    call<count<Outcome::kTruePositives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.true_positives_at_thresholds(labels, predictions, thresholds, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The same at each threshold.",
    call<count_at_thresholds<Outcome::kTruePositives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.false_positives(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The number of false positives.",
    call<count<Outcome::kFalsePositives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.false_positives_at_thresholds(labels, predictions, thresholds, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The same at each threshold.",
    call<count_at_thresholds<Outcome::kFalsePositives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.true_negatives(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The number of true negatives.",
    call<count<Outcome::kTrueNegatives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.true_negatives_at_thresholds(labels, predictions, thresholds, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The same at each threshold.",
    call<count_at_thresholds<Outcome::kTrueNegatives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.false_negatives(labels, predictions, weights = NULL, metrics_collections = NULL, "
    "updates_collections = NULL, name = NULL)",
    "The number of false negatives.",
    call<count<Outcome::kFalseNegatives>>);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.false_negatives_at_thresholds(labels, predictions, thresholds, weights = NULL, "
    "metrics_collections = NULL, updates_collections = NULL, name = NULL)",
    "The same at each threshold.",
    call<count_at_thresholds<Outcome::kFalseNegatives>>);

}  // namespace runhooks
