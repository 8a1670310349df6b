#include <algorithm>

#include "nn/metric_call.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

constexpr double kEpsilon = 1e-7;

Output float32_scalar(Graph& g, double value) { return g.scalar(DType::kFloat32, value); }

Output add_epsilon(Graph& g, Output x) { return add(g, x, float32_scalar(g, kEpsilon)); }

Output as_bool(Graph& graph, Output x) { return cast(graph, x, DType::kBool); }

enum class Outcome { kTruePositives, kFalsePositives, kTrueNegatives, kFalseNegatives };

const char* outcome_name(Outcome outcome) {
  static const char* const kNames[] = {"true_positives", "false_positives", "true_negatives",
                                       "false_negatives"};
  return kNames[static_cast<int>(outcome)];
}

bool label_of(Outcome outcome) {
  return outcome == Outcome::kTruePositives || outcome == Outcome::kFalseNegatives;
}
bool prediction_of(Outcome outcome) {
  return outcome == Outcome::kTruePositives || outcome == Outcome::kFalsePositives;
}

Output negate_unless(Graph& graph, Output x, bool is_true) {
  return is_true ? x : static_cast<Output>(graph.op("LogicalNot", {x}));
}

struct Count {
  Output value, update;
};
Count count_in_scope(
    Graph& graph, Outcome outcome, Output labels, Output predictions, Output weights) {
  const Output hits = graph.op(
      "LogicalAnd", {negate_unless(graph, as_bool(graph, labels), label_of(outcome)),
                     negate_unless(graph, as_bool(graph, predictions), prediction_of(outcome))});
  const VariablePtr count = metric_variable(graph, "count");
  Output values = cast(graph, hits, DType::kFloat32);
  if (weights) values = multiply(graph, values, broadcast_weights(graph, weights, values));
  const Output update = add_to_variable(graph, count, sum_along(graph, values, {}));
  return {count->snapshot, graph.op("Identity", {update})};
}

Count outcome_count(
    Graph& graph, Outcome outcome, Output labels, Output predictions, Output weights) {
  const NameScope scope(graph, outcome_name(outcome));
  return count_in_scope(graph, outcome, labels, predictions, weights);
}

Output ratio(Graph& graph, Output hits, Output misses, const char* name) {
  return graph.op("DivNoNan", {hits, add(graph, hits, misses)}).named(name);
}

Metric ratio_metric(Graph& graph, const Count& hits, const Count& misses) {
  return make_metric(ratio(graph, hits.value, misses.value, "value"),
                     ratio(graph, hits.update, misses.update, "update_op"));
}

// The counts of true and false positives and negatives, one element per threshold.
struct Confusion {
  Output tp, fp, tn, fn;
};
struct ConfusionMetric {
  Confusion value, update;
};

Output row(Graph& graph, Output x) { return graph.op("Reshape", {x, graph.int_vector({1, -1})}); }

// Counts the outcomes at each threshold by products of two matrices. One has the shape [thresholds,
// examples] and contains predictions; the other, [1, examples], contains weights of positive or
// negative examples.
ConfusionMetric confusion_at_thresholds(Graph& graph,
                                        Output labels,
                                        Output predictions,
                                        const std::vector<float>& thresholds,
                                        Output weights) {
  check_compatible_shapes(labels, predictions);
  const auto n = static_cast<int64_t>(thresholds.size());
  predictions = cast(graph, predictions, DType::kFloat32);
  const Output limits = graph.constant(Tensor::of<float>(Shape{n, 1}, thresholds), "thresholds");
  const Output is_above = graph.op("Greater", {row(graph, predictions), limits});
  const Output positive = cast(graph, is_above, DType::kFloat32);
  const Output negative = subtract(graph, float32_scalar(graph, 1), positive);
  const Output weight = row(graph, broadcast_weights(graph, weights, predictions));
  const Output is_true = cast(graph, as_bool(graph, row(graph, labels)), DType::kFloat32);
  const Output positive_weight = multiply(graph, weight, is_true);
  const Output negative_weight =
      multiply(graph, weight, subtract(graph, float32_scalar(graph, 1), is_true));

  ConfusionMetric counts;
  auto accumulate = [&](const char* name, Output predicted, Output of_labels, Output* value,
                        Output* update) {
    const Output sums = graph.op("MatMul", {predicted, of_labels}).attr("transpose_b", true);
    const Output flat = graph.op("Reshape", {sums, graph.int_vector({static_cast<int32_t>(n)})});
    const VariablePtr variable = metric_variable(graph, name, Shape{n});
    *value = variable->snapshot;
    *update = add_to_variable(graph, variable, flat);
  };
  accumulate("true_positives", positive, positive_weight, &counts.value.tp, &counts.update.tp);
  accumulate("false_positives", positive, negative_weight, &counts.value.fp, &counts.update.fp);
  accumulate("true_negatives", negative, negative_weight, &counts.value.tn, &counts.update.tn);
  accumulate("false_negatives", negative, positive_weight, &counts.value.fn, &counts.update.fn);
  return counts;
}

// Returns thresholds that divide [0, 1] evenly. The first is slightly below 0 and the last slightly
// above 1, so that all predictions are between them.
std::vector<float> evenly_spaced_thresholds(int64_t n, double last_threshold = 1.0 + kEpsilon) {
  if (n < 2) invalid_argument("`num_thresholds` must be 2 or more, not ", n, ".");
  std::vector<float> thresholds = {static_cast<float>(0.0 - kEpsilon)};
  for (int64_t i = 1; i + 1 < n; ++i) {
    thresholds.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(n - 1)));
  }
  thresholds.push_back(static_cast<float>(last_threshold));
  return thresholds;
}

// The first n - 1 and the last n - 1 of n elements.
struct AdjacentValues {
  Output before, after;
};
AdjacentValues adjacent_values(Graph& graph, Output x, int64_t n) {
  const auto size = static_cast<int32_t>(n - 1);
  const Output length = graph.int_vector({size});
  return {graph.op("Slice", {x, graph.int_vector({0}), length}),
          graph.op("Slice", {x, graph.int_vector({1}), length})};
}

// Computes the area under a precision-recall curve by the method of Davis and Goadrich (2006). It
// interpolates counts between two points of the curve, not precisions.
Output interpolated_pr_auc(Graph& graph, const Confusion& c, int64_t n) {
  const Output zero = float32_scalar(graph, 0);
  const AdjacentValues tp = adjacent_values(graph, c.tp, n), fn = adjacent_values(graph, c.fn, n);
  const AdjacentValues p = adjacent_values(graph, add(graph, c.tp, c.fp), n);
  const Output dtp = subtract(graph, tp.before, tp.after);
  auto not_negative = [&](Output x) -> Output { return graph.op("Maximum", {x, zero}); };
  const Output dp = not_negative(subtract(graph, p.before, p.after));
  const Output slope = graph.op("DivNoNan", {dtp, dp});
  const Output intercept = subtract(graph, tp.after, multiply(graph, slope, p.after));
  const Output has_both = graph.op(
      "LogicalAnd", {graph.op("Greater", {p.before, zero}), graph.op("Greater", {p.after, zero})});
  const Output ratio = graph.op(
      "SelectV2", {has_both, graph.op("DivNoNan", {p.before, p.after}), ones_like(graph, p.after)});
  const Output area =
      multiply(graph, slope, add(graph, dtp, multiply(graph, intercept, graph.op("Log", {ratio}))));
  const Output positives = not_negative(add(graph, tp.after, fn.after));
  return sum_along(graph, graph.op("DivNoNan", {area, positives}), {});
}

Output area_under_curve(Graph& graph, const Confusion& c, const AucOptions& options) {
  const int64_t n = options.num_thresholds;
  const bool is_pr = options.curve == "PR";
  if (is_pr && options.summation_method == "careful_interpolation") {
    return interpolated_pr_auc(graph, c, n);
  }
  const Output recall =
      divide(graph, add_epsilon(graph, c.tp), add_epsilon(graph, add(graph, c.tp, c.fn)));
  Output x, y;
  if (is_pr) {
    x = recall;
    y = divide(graph, add_epsilon(graph, c.tp), add_epsilon(graph, add(graph, c.tp, c.fp)));
  } else {
    x = divide(graph, c.fp, add_epsilon(graph, add(graph, c.fp, c.tn)));
    y = recall;
  }
  const AdjacentValues xs = adjacent_values(graph, x, n), ys = adjacent_values(graph, y, n);
  Output height;
  if (options.summation_method == "minoring") {
    height = graph.op("Minimum", {ys.before, ys.after});
  } else if (options.summation_method == "majoring") {
    height = graph.op("Maximum", {ys.before, ys.after});
  } else {
    height = divide(graph, add(graph, ys.before, ys.after), float32_scalar(graph, 2));
  }
  const Output steps = subtract(graph, xs.before, xs.after);
  return sum_along(graph, multiply(graph, steps, height), {});
}

void check_auc_options(const AucOptions& options) {
  const std::vector<std::string> methods = {"trapezoidal", "careful_interpolation", "minoring",
                                            "majoring"};
  if (options.curve != "ROC" && options.curve != "PR") {
    throw Error(Code::kInvalidArgument, str_cat("`curve` cannot be '", options.curve, "'."),
                {"It is ROC or PR."});
  }
  if (std::find(methods.begin(), methods.end(), options.summation_method) == methods.end()) {
    throw Error(Code::kInvalidArgument,
                str_cat("`summation_method` cannot be '", options.summation_method, "'."),
                {str_cat("It is one of: ", str_join(methods, ", "), ".")});
  }
}

Output smoothed_ratio(Graph& graph, Output hits, Output misses) {
  return divide(graph, hits, add_epsilon(graph, add(graph, hits, misses)));
}

// Returns element `index` of a vector of n elements.
Output element_at(Graph& graph, Output x, Output index, int64_t n) {
  const Output depth = graph.scalar(DType::kInt32, static_cast<double>(n));
  const Output mask =
      graph.op("OneHot", {index, depth, float32_scalar(graph, 1), float32_scalar(graph, 0)});
  return sum_along(graph, multiply(graph, x, mask), {});
}

double fraction_argument(const MetricCall& call, const char* name) {
  const double x = call.args.number(name);
  if (x < 0 || x > 1) invalid_argument("`", name, "` must be between 0 and 1, not ", x, ".");
  return x;
}

// Computes true positives / (true positives + outcomes of the type `false_outcome`): a precision or
// a recall.
Metric ratio_of_outcomes(Graph& graph,
                         Output labels,
                         Output predictions,
                         Output weights,
                         Outcome false_outcome,
                         const std::string& name) {
  check_compatible_shapes(labels, predictions);
  const NameScope scope(graph, name);
  const Count hits = outcome_count(graph, Outcome::kTruePositives, labels, predictions, weights);
  return ratio_metric(graph, hits,
                      outcome_count(graph, false_outcome, labels, predictions, weights));
}

// Computes true positives / (true positives + the count `false_count`) at each threshold.
Metric ratio_at_thresholds(Graph& graph,
                           Output labels,
                           Output predictions,
                           const std::vector<float>& thresholds,
                           Output weights,
                           Output Confusion::*false_count,
                           const std::string& name) {
  const NameScope scope(graph, name);
  const ConfusionMetric c =
      confusion_at_thresholds(graph, labels, predictions, thresholds, weights);
  return make_metric(smoothed_ratio(graph, c.value.tp, c.value.*false_count),
                     smoothed_ratio(graph, c.update.tp, c.update.*false_count));
}

}  // namespace

Metric precision_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  return ratio_of_outcomes(graph, labels, predictions, weights, Outcome::kFalsePositives, name);
}

Metric recall_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  return ratio_of_outcomes(graph, labels, predictions, weights, Outcome::kFalseNegatives, name);
}

Metric precision_at_thresholds_metric(Graph& graph,
                                      Output labels,
                                      Output predictions,
                                      const std::vector<float>& thresholds,
                                      Output weights,
                                      const std::string& name) {
  return ratio_at_thresholds(graph, labels, predictions, thresholds, weights, &Confusion::fp, name);
}

Metric recall_at_thresholds_metric(Graph& graph,
                                   Output labels,
                                   Output predictions,
                                   const std::vector<float>& thresholds,
                                   Output weights,
                                   const std::string& name) {
  return ratio_at_thresholds(graph, labels, predictions, thresholds, weights, &Confusion::fn, name);
}

Metric auc_metric(Graph& graph,
                  Output labels,
                  Output predictions,
                  Output weights,
                  const AucOptions& options,
                  const std::string& name) {
  check_auc_options(options);
  const NameScope scope(graph, name);
  const ConfusionMetric c = confusion_at_thresholds(
      graph, labels, predictions, evenly_spaced_thresholds(options.num_thresholds), weights);
  return make_metric(area_under_curve(graph, c.value, options),
                     area_under_curve(graph, c.update, options));
}

namespace {

// Counts true or false positives or negatives. Labels and predictions are TRUE if they are nonzero.
template <Outcome kOutcome>
Metric count(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  check_compatible_shapes(in.labels, in.predictions);
  const NameScope scope(c.graph, c.name(outcome_name(kOutcome)));
  const Count counts = count_in_scope(c.graph, kOutcome, in.labels, in.predictions, in.weights);
  return make_metric(counts.value, counts.update);
}

template <Outcome kOutcome>
Metric count_at_thresholds(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  const std::vector<float> thresholds = c.thresholds();
  const NameScope scope(c.graph, c.name(outcome_name(kOutcome)));
  const ConfusionMetric all =
      confusion_at_thresholds(c.graph, in.labels, in.predictions, thresholds, in.weights);
  const Output values[] = {all.value.tp, all.value.fp, all.value.tn, all.value.fn};
  const Output updates[] = {all.update.tp, all.update.fp, all.update.tn, all.update.fn};
  const auto i = static_cast<size_t>(kOutcome);
  return make_metric(values[i], c.graph.op("Identity", {updates[i]}));
}

Metric precision(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  return precision_metric(c.graph, in.labels, in.predictions, in.weights, c.name("precision"));
}
Metric recall(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  return recall_metric(c.graph, in.labels, in.predictions, in.weights, c.name("recall"));
}
Metric precision_at_thresholds(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  return precision_at_thresholds_metric(c.graph, in.labels, in.predictions, c.thresholds(),
                                        in.weights, c.name("precision_at_thresholds"));
}
Metric recall_at_thresholds(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  return recall_at_thresholds_metric(c.graph, in.labels, in.predictions, c.thresholds(), in.weights,
                                     c.name("recall_at_thresholds"));
}
Metric auc(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  AucOptions options;
  options.num_thresholds = c.args.integer("num_thresholds", 200);
  options.curve = c.args.text("curve", "ROC");
  options.summation_method = c.args.text("summation_method", "trapezoidal");
  return auc_metric(c.graph, in.labels, in.predictions, in.weights, options, c.name("auc"));
}

Metric sensitivity_at_specificity(const MetricCall& call) {
  Graph& graph = call.graph;
  const MetricInputs in = call.inputs();
  const double specificity = fraction_argument(call, "specificity");
  const int64_t num_thresholds = call.args.integer("num_thresholds", 200);
  const NameScope scope(graph, call.name("sensitivity_at_specificity"));
  const ConfusionMetric confusion = confusion_at_thresholds(
      graph, in.labels, in.predictions, evenly_spaced_thresholds(num_thresholds), in.weights);
  // The sensitivity at the threshold whose specificity is nearest; on ties, the first threshold.
  auto value_at_nearest = [&](const Confusion& c) {
    const Output fractions = smoothed_ratio(graph, c.tn, c.fp);
    const Output distance =
        graph.op("Abs", {subtract(graph, fractions, float32_scalar(graph, specificity))});
    const Output index = graph.op("ArgMin", {distance, graph.scalar(DType::kInt32, 0)});
    return smoothed_ratio(graph, element_at(graph, c.tp, index, num_thresholds),
                          element_at(graph, c.fn, index, num_thresholds));
  };
  return make_metric(value_at_nearest(confusion.value), value_at_nearest(confusion.update));
}

Metric specificity_at_sensitivity(const MetricCall& call) {
  Graph& graph = call.graph;
  const MetricInputs in = call.inputs();
  const double sensitivity = fraction_argument(call, "sensitivity");
  const int64_t num_thresholds = call.args.integer("num_thresholds", 200);
  const NameScope scope(graph, call.name("specificity_at_sensitivity"));
  // In TensorFlow, the last threshold of this metric is below 1, unlike in its other metrics.
  const ConfusionMetric confusion =
      confusion_at_thresholds(graph, in.labels, in.predictions,
                              evenly_spaced_thresholds(num_thresholds, 1.0 - kEpsilon), in.weights);
  std::vector<int32_t> all;
  for (int64_t i = 0; i < num_thresholds; ++i) all.push_back(static_cast<int32_t>(i));
  const Output indices = graph.int_vector(all), none = graph.scalar(DType::kInt32, -1);
  // The specificity at the threshold whose sensitivity is nearest; on ties, the last threshold.
  auto value_at_nearest = [&](const Confusion& c) {
    const Output fractions = smoothed_ratio(graph, c.tp, c.fn);
    const Output distance =
        graph.op("Abs", {subtract(graph, fractions, float32_scalar(graph, sensitivity))});
    const Output min_distance = graph.op("Min", {distance, graph.int_vector({0})});
    const Output hits =
        graph.op("SelectV2", {graph.op("Equal", {distance, min_distance}), indices, none});
    const Output index = graph.op("Max", {hits, graph.int_vector({0})});
    return smoothed_ratio(graph, element_at(graph, c.tn, index, num_thresholds),
                          element_at(graph, c.fp, index, num_thresholds));
  };
  return make_metric(value_at_nearest(confusion.value), value_at_nearest(confusion.update));
}

}  // namespace

RUNHOOKS_REGISTER_METRIC("precision(labels, predictions, weights = NULL",
                         "The fraction of positive predictions that are correct.",
                         precision);
RUNHOOKS_REGISTER_METRIC("recall(labels, predictions, weights = NULL",
                         "The fraction of positive labels that are predicted.",
                         recall);
RUNHOOKS_REGISTER_METRIC("precision_at_thresholds(labels, predictions, thresholds, weights = NULL",
                         "Precision at each threshold.",
                         precision_at_thresholds);
RUNHOOKS_REGISTER_METRIC("recall_at_thresholds(labels, predictions, thresholds, weights = NULL",
                         "Recall at each threshold.",
                         recall_at_thresholds);
RUNHOOKS_REGISTER_METRIC(
    "sensitivity_at_specificity(labels, predictions, specificity, weights = NULL, "
    "num_thresholds = 200",
    "The sensitivity at a given specificity.",
    sensitivity_at_specificity);
RUNHOOKS_REGISTER_METRIC(
    "specificity_at_sensitivity(labels, predictions, sensitivity, weights = NULL, "
    "num_thresholds = 200",
    "The specificity at a given sensitivity.",
    specificity_at_sensitivity);
RUNHOOKS_REGISTER_FUNCTION(
    "metrics.auc(labels, predictions, weights = NULL, num_thresholds = 200, metrics_collections = "
    "NULL, updates_collections = NULL, curve = 'ROC', name = NULL, summation_method = "
    "'trapezoidal', thresholds = NULL)",
    "The area under the ROC curve or the precision-recall curve.",
    call_metric<auc>);

// Registers a count of outcomes, and the same count at each threshold.
#define RUNHOOKS_REGISTER_COUNT(name, text, outcome)                                               \
  RUNHOOKS_REGISTER_METRIC(name "(labels, predictions, weights = NULL", "The number of " text ".", \
                           count<outcome>);                                                        \
  RUNHOOKS_REGISTER_METRIC(name "_at_thresholds(labels, predictions, thresholds, weights = NULL",  \
                           "The number of " text " at each threshold.",                            \
                           count_at_thresholds<outcome>)
RUNHOOKS_REGISTER_COUNT("true_positives", "true positives", Outcome::kTruePositives);
RUNHOOKS_REGISTER_COUNT("false_positives", "false positives", Outcome::kFalsePositives);
RUNHOOKS_REGISTER_COUNT("true_negatives", "true negatives", Outcome::kTrueNegatives);
RUNHOOKS_REGISTER_COUNT("false_negatives", "false negatives", Outcome::kFalseNegatives);

}  // namespace runhooks
