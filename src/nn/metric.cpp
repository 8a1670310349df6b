#include "nn/metric.h"

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

Output spread_weights(Graph& graph, Output weights, Output values) {
  if (!weights) weights = graph.scalar(DType::kFloat32, 1);
  weights = cast(graph, weights, DType::kFloat32);
  Output spread = graph.op("BroadcastTo", {weights, shape_of(graph, values)});
  spread.op->set_output_shape(0, values.shape());
  return spread;
}

Metric make_metric(Output value, Output update) {
  Metric metric;
  metric.value = value;
  metric.update = update.op;
  return metric;
}

namespace {

Output as_float(Graph& graph, Output x) { return cast(graph, x, DType::kFloat32); }

struct FloatSides {
  Output labels, predictions;
};
FloatSides compatible_floats(Graph& graph, Output labels, Output predictions) {
  if (!labels.shape().is_compatible_with(predictions.shape())) {
    invalid_argument("Shapes ", predictions.shape(), " and ", labels.shape(), " are incompatible");
  }
  return {as_float(graph, labels), as_float(graph, predictions)};
}

Metric mean_in_scope(Graph& graph, Output values, Output weights) {
  values = as_float(graph, values);
  const VariablePtr total = metric_variable(graph, "total");
  const VariablePtr count = metric_variable(graph, "count");
  Output number;
  if (weights) {
    const Output spread = spread_weights(graph, weights, values);
    number = sum_along(graph, spread, {});
    values = multiply(graph, values, spread);
  } else {
    number = as_float(graph, graph.op("Size", {values}));
  }
  const Output new_total = add_to_variable(graph, total, sum_along(graph, values, {}));
  const Output new_count = add_to_variable(graph, count, number);
  return make_metric(graph.op("DivNoNan", {total->snapshot, count->snapshot}).named("value"),
                     graph.op("DivNoNan", {new_total, new_count}).named("update_op"));
}

template <typename F>
Metric mapped(const Metric& metric, F f) {
  return make_metric(f(metric.value), f(metric.update->output(0)));
}

}  // namespace

Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  return mean_in_scope(graph, values, weights);
}

Metric accuracy_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  if (!labels.shape().is_compatible_with(predictions.shape())) {
    invalid_argument("Shapes ", predictions.shape(), " and ", labels.shape(), " are incompatible");
  }
  const NameScope scope(graph, name);
  const Output hits = graph.op("Equal", {cast(graph, predictions, labels.dtype()), labels});
  return mean_in_scope(graph, hits, weights);
}

Metric mean_squared_error_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  const FloatSides sides = compatible_floats(graph, labels, predictions);
  return mean_in_scope(graph, graph.op("SquaredDifference", {sides.labels, sides.predictions}),
                       weights);
}

Metric root_mean_squared_error_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  const FloatSides sides = compatible_floats(graph, labels, predictions);
  const Output squares = graph.op("SquaredDifference", {sides.labels, sides.predictions});
  return mapped(mean_in_scope(graph, squares, weights),
                [&graph](Output x) -> Output { return graph.op("Sqrt", {x}); });
}

Metric mean_absolute_error_metric(
    Graph& graph, Output labels, Output predictions, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  const FloatSides sides = compatible_floats(graph, labels, predictions);
  const Output errors = graph.op("Abs", {subtract(graph, sides.predictions, sides.labels)});
  return mean_in_scope(graph, errors, weights);
}

Metric mean_relative_error_metric(Graph& graph,
                                  Output labels,
                                  Output predictions,
                                  Output normalizer,
                                  Output weights,
                                  const std::string& name) {
  const NameScope scope(graph, name);
  const FloatSides sides = compatible_floats(graph, labels, predictions);
  const Output errors = graph.op("Abs", {subtract(graph, sides.labels, sides.predictions)});
  const Output relative = graph.op("DivNoNan", {errors, as_float(graph, normalizer)});
  return mean_in_scope(graph, relative, weights);
}

Metric mean_cosine_distance_metric(Graph& graph,
                                   Output labels,
                                   Output predictions,
                                   int64_t dim,
                                   Output weights,
                                   const std::string& name) {
  const NameScope scope(graph, name);
  const FloatSides sides = compatible_floats(graph, labels, predictions);
  const Output products = multiply(graph, sides.predictions, sides.labels);
  const Metric mean = mean_in_scope(graph, sum_along(graph, products, {dim}, true), weights);
  return mapped(
      mean, [&graph](Output x) { return subtract(graph, graph.scalar(DType::kFloat32, 1), x); });
}

Metric percentage_below_metric(
    Graph& graph, Output values, double threshold, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  const Output limit = graph.scalar(values.dtype(), threshold, "threshold");
  return mean_in_scope(graph, graph.op("Less", {values, limit}), weights);
}

Metric mean_tensor_metric(Graph& graph, Output values, Output weights, const std::string& name) {
  const NameScope scope(graph, name);
  values = as_float(graph, values);
  if (!values.shape().is_fully_defined()) {
    invalid_argument("mean_tensor needs values of a known shape; got ", values.shape(), ".");
  }
  const VariablePtr total = metric_variable(graph, "total_tensor", values.shape());
  const VariablePtr count = metric_variable(graph, "count_tensor", values.shape());
  const Output spread = spread_weights(graph, weights, values);
  const Output new_total = add_to_variable(graph, total, multiply(graph, values, spread));
  const Output new_count = add_to_variable(graph, count, spread);
  return make_metric(graph.op("DivNoNan", {total->snapshot, count->snapshot}).named("value"),
                     graph.op("DivNoNan", {new_total, new_count}).named("update_op"));
}

}  // namespace runhooks
