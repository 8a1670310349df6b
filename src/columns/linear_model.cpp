#include "columns/linear_model.h"

#include <algorithm>
#include <cctype>

namespace runhooks {

namespace {

std::vector<ColumnPtr> sorted_by_name(std::vector<ColumnPtr> columns) {
  std::sort(columns.begin(), columns.end(),
            [](const ColumnPtr& a, const ColumnPtr& b) { return a->name() < b->name(); });
  for (size_t i = 1; i < columns.size(); ++i) {
    if (columns[i]->name() == columns[i - 1]->name()) {
      invalid_argument("Duplicate feature column name found for columns: '", columns[i]->name(),
                       "'.");
    }
  }
  return columns;
}

// A column's name as part of the names of operations and variables, which allow fewer characters:
// "log(x)" is "log_x_".
std::string scope_name(const FeatureColumn& column) {
  std::string name = column.name();
  for (char& c : name) {
    const bool good =
        std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
    if (!good) c = '_';
  }
  return name;
}

Output weighted_sum(Graph& graph,
                    TransformationCache& cache,
                    const FeatureColumn& column,
                    const std::vector<VariablePtr>& weights) {
  const auto* dense = dynamic_cast<const DenseColumn*>(&column);
  if (!dense) {
    fail(Code::kUnimplemented, "A linear model cannot use column '", column.name(), "'.");
  }
  const Output tensor = dense->dense_tensor(cache);
  const Output shape =
      graph.int_vector({-1, static_cast<int32_t>(dense->num_elements())}, "Reshape/shape");
  const Output rows = graph.op("Reshape", {tensor, shape});
  return graph.op("MatMul", {rows, whole_value(graph, weights)}).named("weighted_sum");
}

}  // namespace

Output whole_value(Graph& graph, const std::vector<VariablePtr>& parts) {
  const std::string& name = parts[0]->slice ? parts[0]->slice->full_name : parts[0]->shared_name;
  if (Operation* known = graph.find_operation(name)) {
    if (known->type() == "Identity") return known->output(0);
  }
  NameScope scope(graph, name + "/");
  std::vector<Output> values;
  for (const VariablePtr& part : parts) {
    values.push_back(
        part->is_resource
            ? static_cast<Output>(
                  graph.op("ReadVariableOp", {part->handle}).attr("dtype", part->dtype))
            : part->snapshot);
  }
  if (!parts[0]->slice) return values[0];
  Output whole = values[0];
  if (parts.size() > 1) {
    int axis = 0;
    for (size_t i = 0; i < parts[1]->slice->offset.size(); ++i) {
      if (parts[1]->slice->offset[i] > 0) axis = static_cast<int>(i);
    }
    values.push_back(graph.scalar(DType::kInt32, axis, "concat/axis"));
    whole = graph.op("ConcatV2", values).named("concat");
  }
  return graph.op("Identity", {whole}).named(name + "/");
}

LinearModel linear_model(Graph& graph,
                         const Features& features,
                         const std::vector<ColumnPtr>& columns,
                         int64_t units) {
  const std::vector<ColumnPtr> sorted = sorted_by_name(columns);
  LinearModel model;
  VariableOptions options;
  options.initializer = zeros_initializer();
  options.use_resource = true;
  options.collections = {collection_keys::kGlobalVariables};
  VariableScope scope(graph, "linear_model");
  std::vector<std::vector<VariablePtr>> weights;
  for (const ColumnPtr& column : sorted) {
    const auto* dense = dynamic_cast<const DenseColumn*>(column.get());
    const int64_t rows = dense ? dense->num_elements() : 0;
    weights.push_back(graph.variables().get_partitioned(scope_name(*column) + "/weights",
                                                        Shape{rows, units}, options));
    model.weights.insert(model.weights.end(), weights.back().begin(), weights.back().end());
  }
  model.bias = graph.variables().get_partitioned("bias_weights", Shape{units}, options);

  // TensorFlow's layers within layers leave these scopes.
  NameScope outer_layer(graph, "linear_model");
  NameScope layer(graph, "linear_model");
  TransformationCache cache(graph, features);
  std::vector<Output> sums;
  for (size_t i = 0; i < sorted.size(); ++i) {
    NameScope column_scope(graph, scope_name(*sorted[i]));
    sums.push_back(weighted_sum(graph, cache, *sorted[i], weights[i]));
  }
  const Output no_bias = sums.size() == 1 ? graph.op("Identity", sums).named("weighted_sum_no_bias")
                                          : graph.op("AddN", sums).named("weighted_sum_no_bias");
  model.logits =
      graph.op("BiasAdd", {no_bias, whole_value(graph, model.bias)}).named("weighted_sum");
  return model;
}

}  // namespace runhooks
