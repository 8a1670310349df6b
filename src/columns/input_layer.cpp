#include "columns/input_layer.h"

namespace runhooks {

std::string free_scope(Graph& graph, const std::string& name) {
  return graph.unique_name(name, false).substr(graph.current_name_scope().size());
}

InputLayer input_layer(Graph& graph,
                       const Features& features,
                       const std::vector<ColumnPtr>& columns,
                       const InputLayerOptions& options) {
  if (columns.empty()) invalid_argument("feature_columns must not be empty.");
  const std::vector<ColumnPtr> sorted = sorted_columns(columns);
  const std::vector<std::string> scopes = scopes_of(sorted);
  const VariableScope scope(graph, free_scope(graph, "input_layer"));
  TransformationCache cache(graph, features);
  InputLayer layer;
  std::vector<Output> tensors;
  for (size_t i = 0; i < sorted.size(); ++i) {
    const ColumnPtr& column = sorted[i];
    const auto* dense = dynamic_cast<const DenseColumn*>(column.get());
    if (!dense) {
      throw Error(Code::kInvalidArgument,
                  str_cat("Items of feature_columns must be dense columns; '", column->name(),
                          "' is a categorical one."),
                  {"Wrap it in column_embedding() or column_indicator()."});
    }
    VariableScope column_scope(graph, scopes[i]);
    ColumnVariables variables;
    variables.trainable = options.trainable;
    variables.collections = options.collections;
    const Output tensor = dense->dense_tensor(cache, variables);
    const Output shape =
        graph.int_vector({-1, static_cast<int32_t>(dense->num_elements())}, "Reshape/shape");
    tensors.push_back(graph.op("Reshape", {tensor, shape}));
    layer.variables.emplace_back(column->name(), variables.made);
  }
  if (tensors.size() == 1) {
    layer.tensor = graph.op("Identity", tensors).named("concat");
    return layer;
  }
  tensors.push_back(graph.scalar(DType::kInt32, 1, "concat/axis"));
  layer.tensor = graph.op("ConcatV2", tensors).named("concat");
  return layer;
}

}  // namespace runhooks
