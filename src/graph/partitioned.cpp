#include "graph/partitioned.h"

namespace runhooks {

namespace {

Output part_value(Graph& graph, const Variable& part) {
  if (!part.is_resource) return part.snapshot;
  return graph.op("ReadVariableOp", {part.handle}).attr("dtype", part.dtype);
}

// Returns the axis along which the variable is partitioned. Only along this axis do the offsets of
// the first two parts differ.
int split_axis(const std::vector<VariablePtr>& parts) {
  int axis = 0;
  for (size_t i = 0; i < parts[1]->slice->offset.size(); ++i) {
    if (parts[1]->slice->offset[i] > 0) axis = static_cast<int>(i);
  }
  return axis;
}

}  // namespace

Output full_value(Graph& graph, const std::vector<VariablePtr>& parts) {
  if (!parts[0]->slice && !parts[0]->is_resource) return parts[0]->snapshot;
  const std::string& name = parts[0]->slice ? parts[0]->slice->full_name : parts[0]->shared_name;
  if (Operation* existing = graph.find_operation(name)) {
    if (existing->def().is_identity) return existing->output(0);
  }
  NameScope scope(graph, name + "/");
  std::vector<Output> values;
  for (const VariablePtr& part : parts) values.push_back(part_value(graph, *part));
  if (!parts[0]->slice) return values[0];
  Output concatenated = values[0];
  if (parts.size() > 1) {
    values.push_back(graph.scalar(DType::kInt32, split_axis(parts), "concat/axis"));
    concatenated = graph.op("ConcatV2", values).named("concat");
  }
  return graph.op("Identity", {concatenated}).named(name + "/");
}

std::vector<Output> row_parts(Graph& graph, const std::vector<VariablePtr>& parts) {
  if (parts.size() == 1 || split_axis(parts) != 0) return {full_value(graph, parts)};
  std::vector<Output> values;
  for (const VariablePtr& part : parts) values.push_back(part_value(graph, *part));
  return values;
}

}  // namespace runhooks
