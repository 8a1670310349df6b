#include "estimators/metric.h"

#include "graph/variable.h"

namespace runhooks {

namespace {

Output all_axes(Graph& graph, Output x) {
  const Output zero = graph.scalar(DType::kInt32, 0), one = graph.scalar(DType::kInt32, 1);
  return graph.op("Range", {zero, graph.op("Rank", {x}), one});
}

Output total_of(Graph& graph, Output x) { return graph.op("Sum", {x, all_axes(graph, x)}); }

VariablePtr metric_variable(Graph& graph, const std::string& name) {
  VariableOptions options;
  options.trainable = false;
  options.collections = {collection_keys::kLocalVariables, collection_keys::kMetricVariables};
  return make_variable(graph, graph.scalar(DType::kFloat32, 0, name + "/zeros"), name, options);
}

Output quotient(Graph& graph, Output total, Output count) {
  const Output zero = graph.scalar(DType::kFloat32, 0), one = graph.scalar(DType::kFloat32, 1);
  const Output any = graph.op("Greater", {count, zero});
  const Output safe = graph.op("SelectV2", {any, count, one});
  const Output mean = graph.op("RealDiv", {total, safe});
  return graph.op("SelectV2", {any, mean, zero});
}

}  // namespace

Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name) {
  NameScope scope(graph, name);
  if (values.dtype() != DType::kFloat32) {
    values = graph.op("Cast", {values}).attr("DstT", DType::kFloat32);
  }
  const VariablePtr total = metric_variable(graph, "total");
  const VariablePtr count = metric_variable(graph, "count");
  Output number;
  if (weights) {
    const Output shape = graph.op("Shape", {values});
    const Output spread = graph.op("BroadcastTo", {weights, shape});
    number = total_of(graph, spread);
    values = graph.op("Mul", {values, spread});
  } else {
    number = graph.op("Cast", {graph.op("Size", {values})}).attr("DstT", DType::kFloat32);
  }
  const Output sum = total_of(graph, values);
  const Output new_total = graph.op("AssignAdd", {total->handle, sum});
  const Output new_count = graph.op("AssignAdd", {count->handle, number});
  Metric metric;
  metric.value = quotient(graph, total->snapshot, count->snapshot);
  metric.update = quotient(graph, new_total, new_count).op;
  return metric;
}

}  // namespace runhooks
