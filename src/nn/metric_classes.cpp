// Multi-class metrics: per class, of the confusion matrix, and of the top k predictions.
#include "nn/metric.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output flat(Graph& graph, Output x) { return graph.op("Reshape", {x, graph.int_vector({-1})}); }

Output one_hot(Graph& graph, Output classes, int64_t num_classes, DType dtype) {
  const Output depth = graph.scalar(DType::kInt32, static_cast<double>(num_classes));
  return graph.op("OneHot",
                  {flat(graph, classes), depth, graph.scalar(dtype, 1), graph.scalar(dtype, 0)});
}

Output as_column(Graph& graph, Output x) {
  return graph.op("Reshape", {x, graph.int_vector({-1, 1})});
}

Output class_numbers(Graph& graph, Output x) {
  return is_integer(x.dtype()) ? x : cast(graph, x, DType::kInt64);
}

void check_classes(int64_t num_classes) {
  if (num_classes < 1) invalid_argument("`num_classes` must be 1 or more, not ", num_classes, ".");
}

Output mean_iou_of(Graph& graph, Output confusion) {
  const auto sum = [&](int64_t axis) {
    return cast(graph, sum_along(graph, confusion, {axis}), DType::kFloat32);
  };
  const auto classes = static_cast<size_t>(confusion.shape().dim(0));
  std::vector<double> identity(classes * classes, 0);
  for (size_t i = 0; i < classes; ++i) identity[i * classes + i] = 1;
  const Output mask = graph.constant(Tensor::of<double>(confusion.shape(), identity));
  const Output hits =
      cast(graph, sum_along(graph, multiply(graph, confusion, mask), {0}), DType::kFloat32);
  const Output either = subtract(graph, add(graph, sum(0), sum(1)), hits);
  const Output zero = graph.scalar(DType::kFloat32, 0);
  const Output valid = cast(graph, graph.op("NotEqual", {either, zero}), DType::kFloat32);
  const Output shares = graph.op("DivNoNan", {hits, either});
  return graph.op("DivNoNan", {sum_along(graph, shares, {}), sum_along(graph, valid, {})})
      .named("mean_iou");
}

// Matches of labels with the top k predictions, one row per example.
struct TopK {
  Output places;  // [rows, k], int64
  Output labels;  // [rows, labels], int64
  Output is_right;  // [rows, k], 1 or 0 in float64
};

TopK top_k_of(Graph& graph, Output labels, Output predictions, int64_t k) {
  if (k < 1) invalid_argument("`k` must be 1 or more, not ", k, ".");
  if (!is_integer(labels.dtype())) {
    invalid_argument("Labels must be class numbers of an integer type, not ",
                     dtype_name(labels.dtype()), ".");
  }
  Operation* top = graph.op("TopKV2", {cast(graph, predictions, DType::kFloat32),
                                       graph.scalar(DType::kInt32, static_cast<double>(k))});
  TopK found;
  found.places = cast(graph, top->output(1), DType::kInt64);
  found.labels = cast(graph, labels, DType::kInt64);
  if (labels.shape().rank() == 1) found.labels = as_column(graph, found.labels);
  const Output last = graph.scalar(DType::kInt32, -1), before = graph.scalar(DType::kInt32, 1);
  const Output equal = graph.op("Equal", {graph.op("ExpandDims", {found.places, last}),
                                          graph.op("ExpandDims", {found.labels, before})});
  const Output any = graph.op("Any", {equal, graph.int_vector({2})});
  found.is_right = cast(graph, any, DType::kFloat64);
  return found;
}

// 1 for the counted class, or for every valid class if `class_id` is negative; negative classes are
// invalid.
Output is_counted(Graph& graph, Output classes, int64_t class_id) {
  const Output limit =
      graph.scalar(DType::kInt64, static_cast<double>(class_id < 0 ? 0 : class_id));
  const char* type = class_id < 0 ? "GreaterEqual" : "Equal";
  return cast(graph, graph.op(type, {classes, limit}), DType::kFloat64);
}

Output weighted_sum(Graph& graph, Output values, Output weights) {
  const Output rows = sum_along(graph, values, {1});
  if (!weights) return sum_along(graph, rows, {});
  const Output spread = cast(graph, spread_weights(graph, weights, rows), DType::kFloat64);
  return sum_along(graph, multiply(graph, rows, spread), {});
}

// tp / (tp + others), NaN if both are 0.
Metric share_at_k(Graph& graph,
                  const std::string& hits_name,
                  const std::string& others_name,
                  Output hits,
                  Output others) {
  const VariablePtr tp = metric_variable(graph, hits_name, Shape(), DType::kFloat64);
  const VariablePtr rest = metric_variable(graph, others_name, Shape(), DType::kFloat64);
  const Output new_tp = add_to_variable(graph, tp, hits);
  const Output new_rest = add_to_variable(graph, rest, others);
  auto share = [&](Output a, Output b) { return divide(graph, a, add(graph, a, b)); };
  return make_metric(share(tp->snapshot, rest->snapshot), share(new_tp, new_rest));
}

std::string name_or(const std::string& name, const char* prefix, int64_t k) {
  return name.empty() ? str_cat(prefix, k) : name;
}

}  // namespace

Metric mean_per_class_accuracy_metric(Graph& graph,
                                      Output labels,
                                      Output predictions,
                                      int64_t num_classes,
                                      Output weights,
                                      const std::string& name) {
  check_classes(num_classes);
  const NameScope scope(graph, name);
  labels = class_numbers(graph, labels);
  const Output weight = as_column(graph, spread_weights(graph, weights, labels));
  const Output is_right = graph.op("Equal", {labels, cast(graph, predictions, labels.dtype())});
  const Output right = as_column(graph, cast(graph, is_right, DType::kFloat32));
  const Output of_class =
      multiply(graph, one_hot(graph, labels, num_classes, DType::kFloat32), weight);
  const VariablePtr total = metric_variable(graph, "total", Shape{num_classes});
  const VariablePtr count = metric_variable(graph, "count", Shape{num_classes});
  const Output new_total = add_to_variable(graph, total, sum_along(graph, of_class, {0}));
  const Output hits = sum_along(graph, multiply(graph, of_class, right), {0});
  const Output new_count = add_to_variable(graph, count, hits);
  const Output shares = graph.op("DivNoNan", {count->snapshot, total->snapshot});
  const Output mean = graph.op("Mean", {shares, graph.int_vector({0})}).named("mean_accuracy");
  return make_metric(mean, graph.op("DivNoNan", {new_count, new_total}).named("update_op"));
}

Metric mean_iou_metric(Graph& graph,
                       Output labels,
                       Output predictions,
                       int64_t num_classes,
                       Output weights,
                       const std::string& name) {
  check_classes(num_classes);
  const NameScope scope(graph, name);
  labels = class_numbers(graph, labels);
  predictions = class_numbers(graph, predictions);
  Output predicted = one_hot(graph, predictions, num_classes, DType::kFloat64);
  if (weights) {
    const Output weight = as_column(graph, spread_weights(graph, weights, labels));
    predicted = multiply(graph, predicted, cast(graph, weight, DType::kFloat64));
  }
  const Output batch =
      graph.op("MatMul", {one_hot(graph, labels, num_classes, DType::kFloat64), predicted})
          .attr("transpose_a", true);
  const VariablePtr confusion = metric_variable(graph, "total_confusion_matrix",
                                                Shape{num_classes, num_classes}, DType::kFloat64);
  const Output update = add_to_variable(graph, confusion, batch);
  return make_metric(mean_iou_of(graph, confusion->snapshot), graph.op("Identity", {update}));
}

Metric recall_at_k_metric(Graph& graph,
                          Output labels,
                          Output predictions,
                          const AtKOptions& options,
                          Output weights,
                          const std::string& name) {
  const NameScope scope(graph, name_or(name, "recall_at_", options.k));
  const TopK top = top_k_of(graph, labels, predictions, options.k);
  const Output right =
      multiply(graph, top.is_right, is_counted(graph, top.places, options.class_id));
  const Output hits = weighted_sum(graph, right, weights);
  const Output wanted =
      weighted_sum(graph, is_counted(graph, top.labels, options.class_id), weights);
  return share_at_k(graph, str_cat("true_positive_at_", options.k),
                    str_cat("false_negative_at_", options.k), hits, subtract(graph, wanted, hits));
}

Metric precision_at_k_metric(Graph& graph,
                             Output labels,
                             Output predictions,
                             const AtKOptions& options,
                             Output weights,
                             const std::string& name) {
  const NameScope scope(graph, name_or(name, "precision_at_", options.k));
  const TopK top = top_k_of(graph, labels, predictions, options.k);
  const Output counted = is_counted(graph, top.places, options.class_id);
  const Output hits = weighted_sum(graph, multiply(graph, top.is_right, counted), weights);
  const Output predicted = weighted_sum(graph, counted, weights);
  return share_at_k(graph, str_cat("true_positive_at_", options.k),
                    str_cat("false_positive_at_", options.k), hits,
                    subtract(graph, predicted, hits));
}

Metric average_precision_at_k_metric(Graph& graph,
                                     Output labels,
                                     Output predictions,
                                     int64_t k,
                                     Output weights,
                                     const std::string& name) {
  const NameScope scope(graph, name_or(name, "average_precision_at_", k));
  const TopK top = top_k_of(graph, labels, predictions, k);
  // Column j sums the matches among the first j + 1 and divides by j + 1.
  const auto size = static_cast<size_t>(k);
  std::vector<double> shares(size * size, 0);
  for (size_t i = 0; i < size; ++i) {
    for (size_t j = i; j < size; ++j) shares[i * size + j] = 1.0 / static_cast<double>(j + 1);
  }
  const Output precisions =
      graph.op("MatMul", {top.is_right, graph.constant(Tensor::of<double>(Shape{k, k}, shares))});
  const Output gained = sum_along(graph, multiply(graph, precisions, top.is_right), {1});
  const Output relevant = sum_along(graph, is_counted(graph, top.labels, -1), {1});
  const Output possible =
      graph.op("Minimum", {relevant, graph.scalar(DType::kFloat64, static_cast<double>(k))});
  Output averages = graph.op("DivNoNan", {gained, possible});
  const Output weight = cast(graph, spread_weights(graph, weights, averages), DType::kFloat64);
  averages = multiply(graph, averages, weight);
  const VariablePtr total = metric_variable(graph, "total", Shape(), DType::kFloat64);
  const VariablePtr count = metric_variable(graph, "max", Shape(), DType::kFloat64);
  const Output new_total = add_to_variable(graph, total, sum_along(graph, averages, {}));
  const Output new_count = add_to_variable(graph, count, sum_along(graph, weight, {}));
  return make_metric(graph.op("DivNoNan", {total->snapshot, count->snapshot}).named("value"),
                     graph.op("DivNoNan", {new_total, new_count}).named("update_op"));
}

}  // namespace runhooks
