#include "columns/linear_model.h"

#include "columns/input_layer.h"
#include "graph/gauss_newton.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output broadcast_to_units(Graph& graph, Output diagonal, const Variable& weights) {
  const Output column = graph.op("Reshape", {diagonal, graph.int_vector({-1, 1})});
  return graph.op("BroadcastTo",
                  {column, graph.constant(Tensor::vector<int64_t>(weights.shape.dims()))});
}

// The following functions set the Gauss-Newton diagonal of weights (graph/gauss_newton.h). For ids,
// it is how often each occurs; for numbers, the sum of their squares; for the bias, the number of
// rows.
void add_gauss_newton_of_ids(Graph& graph, const VariablePtr& weights, const IdsAndWeights& ids) {
  set_gauss_newton_diagonal(graph, *weights, [weights, ids](Graph& g) {
    const Output values = ids.weights ? Output(g.op("Square", {ids.weights}))
                                      : ones_like(g, cast(g, ids.ids, DType::kFloat32));
    const Output buckets =
        g.scalar(DType::kInt32, static_cast<double>(weights->shape.dim(0)), "buckets");
    return broadcast_to_units(g, g.op("UnsortedSegmentSum", {values, ids.ids, buckets}), *weights);
  });
}
void add_gauss_newton_of_rows(Graph& graph, const VariablePtr& weights, Output matrix) {
  set_gauss_newton_diagonal(graph, *weights, [weights, matrix](Graph& g) {
    const Output squares = g.op("Sum", {g.op("Square", {matrix}), g.int_vector({0})});
    return broadcast_to_units(g, squares, *weights);
  });
}
void add_gauss_newton_of_bias(Graph& graph, const VariablePtr& bias, Output logits) {
  set_gauss_newton_diagonal(graph, *bias, [logits](Graph& g) {
    return Output(g.op("Sum", {ones_like(g, logits), g.int_vector({0})}));
  });
}

Output weighted_sum(Graph& graph,
                    TransformationCache& cache,
                    const FeatureColumn& column,
                    const std::vector<VariablePtr>& weights,
                    const std::string& combiner,
                    ColumnVariables& variables) {
  const bool is_unpartitioned = weights.size() == 1;
  if (const auto* categorical = dynamic_cast<const CategoricalColumn*>(&column)) {
    const IdsAndWeights ids = categorical->ids_and_weights(cache);
    if (is_unpartitioned) add_gauss_newton_of_ids(graph, weights[0], ids);
    return graph.op("Identity", {combined_rows(graph, row_parts(graph, weights), ids, combiner)})
        .named("weighted_sum");
  }
  const auto& dense = dynamic_cast<const DenseColumn&>(column);
  const Output tensor = dense.dense_tensor(cache, variables);
  const Output shape =
      graph.int_vector({-1, static_cast<int32_t>(dense.num_elements())}, "Reshape/shape");
  const Output matrix = graph.op("Reshape", {tensor, shape});
  if (is_unpartitioned) add_gauss_newton_of_rows(graph, weights[0], matrix);
  return graph.op("MatMul", {matrix, full_value(graph, weights)}).named("weighted_sum");
}

int64_t num_weight_rows(const FeatureColumn& column) {
  if (const auto* categorical = dynamic_cast<const CategoricalColumn*>(&column)) {
    return categorical->num_buckets();
  }
  const auto* dense = dynamic_cast<const DenseColumn*>(&column);
  if (!dense) {
    fail(Code::kUnimplemented, "A linear model cannot use column '", column.name(), "'.");
  }
  return dense->num_elements();
}

}  // namespace

Output ones_per_example(Graph& graph, const Features& features) {
  if (features.empty()) invalid_argument("The features must have at least one entry.");
  const Feature& feature = features.begin()->second;
  Output shape;
  if (feature.is_sparse()) {
    shape = cast(graph, feature.dense_shape, DType::kInt32);
  } else {
    shape = graph.op("Shape", {feature.values});
  }
  const Output batch_size =
      graph.op("Slice", {shape, graph.int_vector({0}, "begin"), graph.int_vector({1}, "size")});
  const Output column = graph.op("ConcatV2", {batch_size, graph.int_vector({1}, "one"),
                                              graph.scalar(DType::kInt32, 0, "axis")});
  return graph.op("Fill", {column, graph.scalar(DType::kFloat32, 1, "value")});
}

LinearModel linear_model(Graph& graph,
                         const Features& features,
                         const std::vector<ColumnPtr>& columns,
                         const LinearModelOptions& model_options) {
  std::vector<ColumnPtr> sorted, unweighted;
  for (const ColumnPtr& column : sorted_columns(columns)) {
    (dynamic_cast<const UnweightedColumn*>(column.get()) ? unweighted : sorted).push_back(column);
  }
  if (sorted.empty() && !unweighted.empty() && !model_options.allow_no_columns) {
    invalid_argument("A linear model needs at least one column with weights in addition to '",
                     unweighted[0]->name(), "'.");
  }
  LinearModel model;
  VariableOptions options;
  options.initializer = zeros_initializer();
  options.use_resource = true;
  options.trainable = model_options.trainable;
  options.collections = model_options.collections;
  VariableScope scope(graph, free_scope(graph, "linear_model"));
  std::vector<std::vector<VariablePtr>> weights;
  const std::vector<std::string> scopes = scopes_of(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Shape shape{num_weight_rows(*sorted[i]), model_options.units};
    weights.push_back(graph.variables().get_partitioned(scopes[i] + "/weights", shape, options));
    model.weights.insert(model.weights.end(), weights.back().begin(), weights.back().end());
  }
  VariableOptions bias_options = options;
  bias_options.trainable = options.trainable && model_options.has_bias;
  model.bias =
      graph.variables().get_partitioned("bias_weights", Shape{model_options.units}, bias_options);

  // TensorFlow's nested layers create these two scopes.
  NameScope outer_layer(graph, "linear_model");
  NameScope layer(graph, "linear_model");
  TransformationCache cache(graph, features);
  std::vector<Output> logits_per_column;
  for (size_t i = 0; i < sorted.size(); ++i) {
    VariableScope column_scope(graph, scopes[i]);
    ColumnVariables variables;
    variables.trainable = model_options.trainable;
    variables.collections = model_options.collections;
    logits_per_column.push_back(weighted_sum(graph, cache, *sorted[i], weights[i],
                                             model_options.sparse_combiner, variables));
    std::vector<VariablePtr> column_variables = weights[i];
    column_variables.insert(column_variables.end(), variables.made.begin(), variables.made.end());
    model.variables.emplace_back(sorted[i]->name(), column_variables);
  }
  model.variables.emplace_back("bias", model.bias);
  if (logits_per_column.empty() && model_options.allow_no_columns) {
    const Output zero = graph.scalar(DType::kFloat32, 0, "none");
    const Output width = graph.int_vector({1, static_cast<int32_t>(model_options.units)}, "units");
    logits_per_column.push_back(
        graph.op("Tile", {graph.op("Mul", {ones_per_example(graph, features), zero}), width}));
  }
  Output logits = logits_per_column.size() == 1
                      ? graph.op("Identity", logits_per_column).named("weighted_sum_no_bias")
                      : graph.op("AddN", logits_per_column).named("weighted_sum_no_bias");
  for (const ColumnPtr& column : unweighted) {
    logits = graph.op("AddV2", {logits, cache.transformed(*column)}).named("with_offset");
  }
  model.logits =
      graph.op("BiasAdd", {logits, full_value(graph, model.bias)}).named("weighted_sum");
  if (model.bias.size() == 1) add_gauss_newton_of_bias(graph, model.bias[0], model.logits);
  return model;
}

}  // namespace runhooks
