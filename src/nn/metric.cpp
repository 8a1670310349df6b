#include "nn/metric.h"

#include "nn/metric_call.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

VariablePtr metric_variable(Graph& graph,
                            const std::string& name,
                            const Shape& shape,
                            DType dtype) {
  VariableOptions options;
  options.dtype = dtype;
  options.trainable = false;
  options.collections = {collection_keys::kLocalVariables, collection_keys::kMetricVariables};
  const Output zeros = graph.constant(Tensor::zeros(dtype, shape), name + "/zeros");
  return make_variable(graph, zeros, name, options);
}

Output add_to_variable(Graph& graph, const VariablePtr& variable, Output amount) {
  return graph.op("AssignAdd", {variable->handle, amount});
}

Output broadcast_weights(Graph& graph, Output weights, Output values) {
  if (!weights) weights = graph.scalar(DType::kFloat32, 1);
  weights = cast(graph, weights, DType::kFloat32);
  Output broadcast = graph.op("BroadcastTo", {weights, shape_of(graph, values)});
  broadcast.op->set_output_shape(0, values.shape());
  return broadcast;
}

Metric make_metric(Output value, Output update) {
  Metric metric;
  metric.value = value;
  metric.update = update.op;
  return metric;
}

namespace {

Output as_float(Graph& graph, Output x) { return cast(graph, x, DType::kFloat32); }

struct LabelsAndPredictionsAsFloat {
  Output labels, predictions;
};
LabelsAndPredictionsAsFloat checked_floats(Graph& graph, const MetricInputs& in) {
  check_compatible_shapes(in.labels, in.predictions);
  return {as_float(graph, in.labels), as_float(graph, in.predictions)};
}

Metric mean_in_scope(Graph& graph, Output values, Output weights) {
  values = as_float(graph, values);
  const VariablePtr total = metric_variable(graph, "total");
  const VariablePtr count = metric_variable(graph, "count");
  Output number;
  if (weights) {
    const Output broadcast = broadcast_weights(graph, weights, values);
    number = sum_along(graph, broadcast, {});
    values = multiply(graph, values, broadcast);
  } else {
    number = as_float(graph, graph.op("Size", {values}));
  }
  const Output new_total = add_to_variable(graph, total, sum_along(graph, values, {}));
  const Output new_count = add_to_variable(graph, count, number);
  return make_metric(graph.op("DivNoNan", {total->snapshot, count->snapshot}).named("value"),
                     graph.op("DivNoNan", {new_total, new_count}).named("update_op"));
}

template <typename Function>
Metric transform_metric(const Metric& metric, Function function) {
  return make_metric(function(metric.value), function(metric.update->output(0)));
}

}  // namespace

Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  return mean_in_scope(graph, values, weights);
}

Metric accuracy_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  check_compatible_shapes(labels, predictions);
  const NameScope scope(graph, name);
  const Output is_correct = graph.op("Equal", {cast(graph, predictions, labels.dtype()), labels});
  return mean_in_scope(graph, is_correct, weights);
}

namespace {

Metric mean(const MetricCall& c) {
  return mean_metric(c.graph, c.values(), c.weights(), c.name("mean"));
}

Metric accuracy(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  return accuracy_metric(c.graph, in.labels, in.predictions, in.weights, c.name("accuracy"));
}

Metric mean_squared_error(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  const NameScope scope(c.graph, c.name("mean_squared_error"));
  const LabelsAndPredictionsAsFloat floats = checked_floats(c.graph, in);
  return mean_in_scope(
      c.graph, c.graph.op("SquaredDifference", {floats.labels, floats.predictions}), in.weights);
}

Metric root_mean_squared_error(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  const NameScope scope(c.graph, c.name("root_mean_squared_error"));
  const LabelsAndPredictionsAsFloat floats = checked_floats(c.graph, in);
  const Output squares = c.graph.op("SquaredDifference", {floats.labels, floats.predictions});
  return transform_metric(mean_in_scope(c.graph, squares, in.weights),
                          [&c](Output x) -> Output { return c.graph.op("Sqrt", {x}); });
}

Metric mean_absolute_error(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  const NameScope scope(c.graph, c.name("mean_absolute_error"));
  const LabelsAndPredictionsAsFloat floats = checked_floats(c.graph, in);
  const Output errors = c.graph.op("Abs", {subtract(c.graph, floats.predictions, floats.labels)});
  return mean_in_scope(c.graph, errors, in.weights);
}

// The mean of |labels - predictions| / normalizer. An element whose normalizer is 0 counts as 0.
Metric mean_relative_error(const MetricCall& c) {
  const MetricInputs in = c.inputs();
  const Output normalizer = tensor_argument(c.graph, c.args, "normalizer", DType::kFloat32);
  const NameScope scope(c.graph, c.name("mean_relative_error"));
  const LabelsAndPredictionsAsFloat floats = checked_floats(c.graph, in);
  const Output errors = c.graph.op("Abs", {subtract(c.graph, floats.labels, floats.predictions)});
  const Output relative = c.graph.op("DivNoNan", {errors, as_float(c.graph, normalizer)});
  return mean_in_scope(c.graph, relative, in.weights);
}

// The value is 1 minus the mean inner product along `dim`. Before the first batch, it is 1.
Metric mean_cosine_distance(const MetricCall& c) {
  Graph& graph = c.graph;
  const MetricInputs in = c.unchanged_inputs();
  const NameScope scope(graph, c.name("mean_cosine_distance"));
  const LabelsAndPredictionsAsFloat floats = checked_floats(graph, in);
  const Output products = multiply(graph, floats.predictions, floats.labels);
  const Output sums = sum_along(graph, products, {c.args.integer("dim")}, true);
  return transform_metric(mean_in_scope(graph, sums, in.weights), [&graph](Output x) {
    return subtract(graph, graph.scalar(DType::kFloat32, 1), x);
  });
}

Metric percentage_below(const MetricCall& c) {
  const Output weights = c.weights(), values = c.values();
  const NameScope scope(c.graph, c.name("percentage_below_threshold"));
  const Output limit = c.graph.scalar(values.dtype(), c.args.number("threshold"), "threshold");
  return mean_in_scope(c.graph, c.graph.op("Less", {values, limit}), weights);
}

// Averages each element over the batches, so all batches must have the same shape.
Metric mean_tensor(const MetricCall& c) {
  Graph& graph = c.graph;
  const Output weights = c.weights(), input_values = c.values();
  const NameScope scope(graph, c.name("mean_tensor"));
  const Output values = as_float(graph, input_values);
  if (!values.shape().is_fully_defined()) {
    invalid_argument("mean_tensor needs values of a known shape; got ", values.shape(), ".");
  }
  const VariablePtr total = metric_variable(graph, "total_tensor", values.shape());
  const VariablePtr count = metric_variable(graph, "count_tensor", values.shape());
  const Output broadcast = broadcast_weights(graph, weights, values);
  const Output new_total = add_to_variable(graph, total, multiply(graph, values, broadcast));
  const Output new_count = add_to_variable(graph, count, broadcast);
  return make_metric(graph.op("DivNoNan", {total->snapshot, count->snapshot}).named("value"),
                     graph.op("DivNoNan", {new_total, new_count}).named("update_op"));
}

}  // namespace

RUNHOOKS_REGISTER_METRIC("mean(values, weights = NULL", "The weighted mean.", mean);
RUNHOOKS_REGISTER_METRIC("mean_tensor(values, weights = NULL",
                         "The weighted mean of each element over batches.",
                         mean_tensor);
RUNHOOKS_REGISTER_METRIC("accuracy(labels, predictions, weights = NULL",
                         "The fraction of predictions that equal their labels.",
                         accuracy);
RUNHOOKS_REGISTER_METRIC("mean_squared_error(labels, predictions, weights = NULL",
                         "The mean of the squared errors.",
                         mean_squared_error);
RUNHOOKS_REGISTER_METRIC("root_mean_squared_error(labels, predictions, weights = NULL",
                         "The square root of the mean squared error.",
                         root_mean_squared_error);
RUNHOOKS_REGISTER_METRIC("mean_absolute_error(labels, predictions, weights = NULL",
                         "The mean of the absolute errors.",
                         mean_absolute_error);
RUNHOOKS_REGISTER_METRIC("mean_relative_error(labels, predictions, normalizer, weights = NULL",
                         "The mean of the absolute errors divided by the normalizer.",
                         mean_relative_error);
RUNHOOKS_REGISTER_METRIC("mean_cosine_distance(labels, predictions, dim, weights = NULL",
                         "The mean cosine distance of vectors with length 1.",
                         mean_cosine_distance);
RUNHOOKS_REGISTER_METRIC("percentage_below(values, threshold, weights = NULL",
                         "The fraction of values below the threshold.",
                         percentage_below);

}  // namespace runhooks
