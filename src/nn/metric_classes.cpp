// Metrics for several classes: by class, from the confusion matrix, and of the top k predictions.
#include "nn/metric_call.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output as_vector(Graph& graph, Output x) {
  return graph.op("Reshape", {x, graph.int_vector({-1})});
}

Output one_hot(Graph& graph, Output classes, int64_t num_classes, DType dtype) {
  const Output depth = graph.scalar(DType::kInt32, static_cast<double>(num_classes));
  return graph.op(
      "OneHot", {as_vector(graph, classes), depth, graph.scalar(dtype, 1), graph.scalar(dtype, 0)});
}

Output as_column(Graph& graph, Output x) {
  return graph.op("Reshape", {x, graph.int_vector({-1, 1})});
}

Output as_integers(Graph& graph, Output x) {
  return is_integer(x.dtype()) ? x : cast(graph, x, DType::kInt64);
}

int64_t num_classes_argument(const MetricCall& c) {
  const int64_t num_classes = c.args.integer("num_classes");
  if (num_classes < 1) invalid_argument("`num_classes` must be 1 or more, not ", num_classes, ".");
  return num_classes;
}

Output mean_iou_from_confusion(Graph& graph, Output confusion) {
  const auto sum = [&](int64_t axis) {
    return cast(graph, sum_along(graph, confusion, {axis}), DType::kFloat32);
  };
  const auto classes = static_cast<size_t>(confusion.shape().dim(0));
  std::vector<double> identity(classes * classes, 0);
  for (size_t i = 0; i < classes; ++i) identity[i * classes + i] = 1;
  const Output mask = graph.constant(Tensor::of<double>(confusion.shape(), identity));
  const Output true_positives =
      cast(graph, sum_along(graph, multiply(graph, confusion, mask), {0}), DType::kFloat32);
  const Output union_sizes = subtract(graph, add(graph, sum(0), sum(1)), true_positives);
  const Output zero = graph.scalar(DType::kFloat32, 0);
  const Output is_present = cast(graph, graph.op("NotEqual", {union_sizes, zero}), DType::kFloat32);
  const Output ious = graph.op("DivNoNan", {true_positives, union_sizes});
  return graph.op("DivNoNan", {sum_along(graph, ious, {}), sum_along(graph, is_present, {})})
      .named("mean_iou");
}

// Matches of labels with the top k predictions, one row per example.
struct TopK {
  Output classes;     // [rows, k], int64
  Output labels;      // [rows, labels], int64
  Output is_correct;  // [rows, k], 1 or 0 in float64
};

TopK top_k_of(Graph& graph, Output labels, Output predictions, int64_t k) {
  if (k < 1) invalid_argument("`k` must be 1 or more, not ", k, ".");
  if (!is_integer(labels.dtype())) {
    invalid_argument("Labels must be class numbers of an integer type, not ",
                     dtype_name(labels.dtype()), ".");
  }
  Operation* top = graph.op("TopKV2", {cast(graph, predictions, DType::kFloat32),
                                       graph.scalar(DType::kInt32, static_cast<double>(k))});
  TopK matches;
  matches.classes = cast(graph, top->output(1), DType::kInt64);
  matches.labels = cast(graph, labels, DType::kInt64);
  if (labels.shape().rank() == 1) matches.labels = as_column(graph, matches.labels);
  const Output last_axis = graph.scalar(DType::kInt32, -1),
               middle_axis = graph.scalar(DType::kInt32, 1);
  const Output equal = graph.op("Equal", {graph.op("ExpandDims", {matches.classes, last_axis}),
                                          graph.op("ExpandDims", {matches.labels, middle_axis})});
  const Output any_match = graph.op("Any", {equal, graph.int_vector({2})});
  matches.is_correct = cast(graph, any_match, DType::kFloat64);
  return matches;
}

// Returns 1 where an element of `classes` is `class_id`, else 0. If `class_id` is negative, returns
// 1 for all valid (nonnegative) classes.
Output is_counted(Graph& graph, Output classes, int64_t class_id) {
  const Output limit =
      graph.scalar(DType::kInt64, static_cast<double>(class_id < 0 ? 0 : class_id));
  const char* type = class_id < 0 ? "GreaterEqual" : "Equal";
  return cast(graph, graph.op(type, {classes, limit}), DType::kFloat64);
}

Output weighted_sum(Graph& graph, Output values, Output weights) {
  const Output rows = sum_along(graph, values, {1});
  if (!weights) return sum_along(graph, rows, {});
  const Output row_weights = cast(graph, broadcast_weights(graph, weights, rows), DType::kFloat64);
  return sum_along(graph, multiply(graph, rows, row_weights), {});
}

// Creates a metric: true positives / (true positives + misses); NaN if both are 0. Misses are false
// positives for a precision, false negatives for a recall.
Metric ratio_at_k(Graph& graph,
                  const std::string& hits_name,
                  const std::string& misses_name,
                  Output true_positives,
                  Output misses_in_batch) {
  const VariablePtr tp = metric_variable(graph, hits_name, Shape(), DType::kFloat64);
  const VariablePtr misses = metric_variable(graph, misses_name, Shape(), DType::kFloat64);
  const Output new_tp = add_to_variable(graph, tp, true_positives);
  const Output new_misses = add_to_variable(graph, misses, misses_in_batch);
  auto ratio = [&](Output a, Output b) { return divide(graph, a, add(graph, a, b)); };
  return make_metric(ratio(tp->snapshot, misses->snapshot), ratio(new_tp, new_misses));
}

// The arguments, the name scope and the matches of a metric at k.
struct TopKArguments {
  TopKArguments(const MetricCall& c, const char* prefix)
      : k(c.args.integer("k")),
        inputs(c.unchanged_inputs()),
        scope(c.graph, c.args.text("name", str_cat(prefix, k))),
        top(top_k_of(c.graph, inputs.labels, inputs.predictions, k)) {}
  const int64_t k;
  const MetricInputs inputs;
  const NameScope scope;
  const TopK top;
};

// The value is the mean accuracy of the classes; the update op returns that of each class.
Metric mean_per_class_accuracy(const MetricCall& c) {
  Graph& graph = c.graph;
  const MetricInputs in = c.inputs();
  const int64_t num_classes = num_classes_argument(c);
  const NameScope scope(graph, c.name("mean_accuracy"));
  const Output labels = as_integers(graph, in.labels);
  const Output weight = as_column(graph, broadcast_weights(graph, in.weights, labels));
  const Output is_correct =
      graph.op("Equal", {labels, cast(graph, in.predictions, labels.dtype())});
  const Output correct = as_column(graph, cast(graph, is_correct, DType::kFloat32));
  const Output class_weights =
      multiply(graph, one_hot(graph, labels, num_classes, DType::kFloat32), weight);
  const VariablePtr total = metric_variable(graph, "total", Shape{num_classes});
  const VariablePtr count = metric_variable(graph, "count", Shape{num_classes});
  const Output new_total = add_to_variable(graph, total, sum_along(graph, class_weights, {0}));
  const Output true_positives = sum_along(graph, multiply(graph, class_weights, correct), {0});
  const Output new_count = add_to_variable(graph, count, true_positives);
  const Output accuracies = graph.op("DivNoNan", {count->snapshot, total->snapshot});
  const Output mean = graph.op("Mean", {accuracies, graph.int_vector({0})}).named("mean_accuracy");
  return make_metric(mean, graph.op("DivNoNan", {new_count, new_total}).named("update_op"));
}

// The value is a mean; the update op returns the confusion matrix, with one row per label.
Metric mean_iou(const MetricCall& c) {
  Graph& graph = c.graph;
  const MetricInputs in = c.inputs();
  const int64_t num_classes = num_classes_argument(c);
  const NameScope scope(graph, c.name("mean_iou"));
  const Output labels = as_integers(graph, in.labels);
  const Output predictions = as_integers(graph, in.predictions);
  Output predicted = one_hot(graph, predictions, num_classes, DType::kFloat64);
  if (in.weights) {
    const Output weight = as_column(graph, broadcast_weights(graph, in.weights, labels));
    predicted = multiply(graph, predicted, cast(graph, weight, DType::kFloat64));
  }
  const Output batch =
      graph.op("MatMul", {one_hot(graph, labels, num_classes, DType::kFloat64), predicted})
          .attr("transpose_a", true);
  const VariablePtr confusion = metric_variable(graph, "total_confusion_matrix",
                                                Shape{num_classes, num_classes}, DType::kFloat64);
  const Output update = add_to_variable(graph, confusion, batch);
  return make_metric(mean_iou_from_confusion(graph, confusion->snapshot),
                     graph.op("Identity", {update}));
}

// The fraction of labels among the top k predictions; NaN without labels. With `class_id`, only
// labels of this class count.
Metric recall_at_k(const MetricCall& c) {
  Graph& graph = c.graph;
  const TopKArguments at(c, "recall_at_");
  const int64_t class_id = c.args.integer("class_id", -1);
  const Output correct =
      multiply(graph, at.top.is_correct, is_counted(graph, at.top.classes, class_id));
  const Output true_positives = weighted_sum(graph, correct, at.inputs.weights);
  const Output relevant =
      weighted_sum(graph, is_counted(graph, at.top.labels, class_id), at.inputs.weights);
  return ratio_at_k(graph, str_cat("true_positive_at_", at.k), str_cat("false_negative_at_", at.k),
                    true_positives, subtract(graph, relevant, true_positives));
}

Metric precision_at_k(const MetricCall& c) {
  Graph& graph = c.graph;
  const TopKArguments at(c, "precision_at_");
  const Output counted = is_counted(graph, at.top.classes, c.args.integer("class_id", -1));
  const Output true_positives =
      weighted_sum(graph, multiply(graph, at.top.is_correct, counted), at.inputs.weights);
  const Output predicted = weighted_sum(graph, counted, at.inputs.weights);
  return ratio_at_k(graph, str_cat("true_positive_at_", at.k), str_cat("false_positive_at_", at.k),
                    true_positives, subtract(graph, predicted, true_positives));
}

Metric average_precision_at_k(const MetricCall& c) {
  Graph& graph = c.graph;
  const TopKArguments at(c, "average_precision_at_");
  const TopK& top = at.top;
  const int64_t k = at.k;
  // A matrix whose column j averages over the first j + 1 predictions.
  const auto size = static_cast<size_t>(k);
  std::vector<double> averaging(size * size, 0);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = i; j < size; ++j) averaging[i * size + j] = 1.0 / static_cast<double>(j + 1);
  }
  const Output precisions = graph.op(
      "MatMul", {top.is_correct, graph.constant(Tensor::of<double>(Shape{k, k}, averaging))});
  const Output precision_sums = sum_along(graph, multiply(graph, precisions, top.is_correct), {1});
  const Output relevant = sum_along(graph, is_counted(graph, top.labels, -1), {1});
  const Output possible =
      graph.op("Minimum", {relevant, graph.scalar(DType::kFloat64, static_cast<double>(k))});
  Output averages = graph.op("DivNoNan", {precision_sums, possible});
  const Output weight =
      cast(graph, broadcast_weights(graph, at.inputs.weights, averages), DType::kFloat64);
  averages = multiply(graph, averages, weight);
  const VariablePtr total = metric_variable(graph, "total", Shape(), DType::kFloat64);
  const VariablePtr count = metric_variable(graph, "max", Shape(), DType::kFloat64);
  const Output new_total = add_to_variable(graph, total, sum_along(graph, averages, {}));
  const Output new_count = add_to_variable(graph, count, sum_along(graph, weight, {}));
  return make_metric(graph.op("DivNoNan", {total->snapshot, count->snapshot}).named("value"),
                     graph.op("DivNoNan", {new_total, new_count}).named("update_op"));
}

}  // namespace

RUNHOOKS_REGISTER_METRIC("mean_per_class_accuracy(labels, predictions, num_classes, weights = NULL",
                         "The mean of the accuracies of all classes.",
                         mean_per_class_accuracy);
RUNHOOKS_REGISTER_METRIC("mean_iou(labels, predictions, num_classes, weights = NULL",
                         "The mean intersection over union of all classes.",
                         mean_iou);
RUNHOOKS_REGISTER_METRIC("recall_at_k(labels, predictions, k, class_id = NULL, weights = NULL",
                         "The recall of the top k predictions.",
                         recall_at_k);
RUNHOOKS_REGISTER_METRIC(
    "precision_at_k, metrics.sparse_precision_at_k(labels, predictions, k, class_id = NULL, "
    "weights = NULL",
    "The precision of the top k predictions.",
    precision_at_k);
RUNHOOKS_REGISTER_METRIC(
    "average_precision_at_k, metrics.sparse_average_precision_at_k(labels, predictions, k, "
    "weights = NULL",
    "The mean average precision of the top k predictions.",
    average_precision_at_k);

}  // namespace runhooks
