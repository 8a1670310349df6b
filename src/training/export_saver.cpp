#include "training/export_saver.h"

#include <algorithm>

namespace runhooks {

std::string slice_spec(const Variable& variable) {
  if (!variable.slice) return "";
  const SaveSliceInfo& slice = *variable.slice;
  std::string dims, extents;
  for (int i = 0; i < slice.shape.rank(); ++i) {
    dims += str_cat(slice.full_shape.dim(i), " ");
    extents +=
        str_cat(i > 0 ? ":" : "", slice.offset[static_cast<size_t>(i)], ",", slice.shape.dim(i));
  }
  return dims + extents;
}

namespace {

class SaverOps {
 public:
  SaverOps(Graph& graph, const std::vector<VariablePtr>& variables)
      : graph_(graph), variables_(variables) {
    std::vector<std::string> names, slices;
    for (const VariablePtr& variable : variables) {
      names.push_back(variable->save_name());
      slices.push_back(slice_spec(*variable));
      dtypes_.push_back(variable->dtype);
    }
    const Shape shape{static_cast<int64_t>(names.size())};
    names_ = Tensor::strings(shape, names);
    slices_ = Tensor::strings(shape, slices);
  }

  SaverDef add() {
    const NameScope scope(graph_, "save");
    const Output model = graph_.constant(Tensor::string_scalar("model"), "filename/input");
    const Output filename =
        graph_.op("PlaceholderWithDefault", {model}).attr("shape", Shape()).named("filename");
    const Output prefix =
        graph_.op("PlaceholderWithDefault", {filename}).attr("shape", Shape()).named("Const");
    SaverDef def;
    def.filename_tensor_name = prefix.name();
    def.save_tensor_name = save(prefix).name();
    def.restore_op_name = restore(prefix)->name();
    return def;
  }

 private:
  Output text(const std::string& value, const char* name) {
    return graph_.constant(Tensor::string_scalar(value), name);
  }

  // One shard in a folder of its own, which becomes the checkpoint when it is complete.
  Output save(Output prefix) {
    const Output folder =
        graph_.op("StringJoin", {prefix, text("_temp/part", "Const")}).named("StringJoin");
    const Output count = graph_.scalar(DType::kInt32, 1, "num_shards");
    const Output shard = graph_.scalar(DType::kInt32, 0, "ShardedFilename/shard");
    const Output file =
        graph_.op("ShardedFilename", {folder, shard, count}).named("ShardedFilename");
    std::vector<Output> inputs = {file, graph_.constant(names_, "SaveV2/tensor_names"),
                                  graph_.constant(slices_, "SaveV2/shape_and_slices")};
    for (const VariablePtr& variable : variables_) inputs.push_back(value_of(*variable));
    Operation* written = graph_.op("SaveV2", inputs).attr("dtypes", dtypes_).named("SaveV2");
    const Output done = graph_.op("Identity", {file}).named("control_dependency").after({written});
    const Output parts = graph_.op("Pack", {done}).named("MergeV2Checkpoints/checkpoint_prefixes");
    Operation* merged =
        graph_.op("MergeV2Checkpoints", {parts, prefix}).named("MergeV2Checkpoints");
    return graph_.op("Identity", {prefix}).named("Identity").after({merged, done.op});
  }

  Operation* restore(Output prefix) {
    Operation* read =
        graph_
            .op("RestoreV2", {prefix, graph_.constant(names_, "RestoreV2/tensor_names"),
                              graph_.constant(slices_, "RestoreV2/shape_and_slices")})
            .attr("dtypes", dtypes_)
            .named("RestoreV2");
    std::vector<Operation*> assigned;
    for (size_t i = 0; i < variables_.size(); ++i) {
      const Output value = read->output(static_cast<int>(i)), handle = handle_of(*variables_[i]);
      assigned.push_back(
          variables_[i]->is_resource
              ? graph_.op("AssignVariableOp", {handle, graph_.op("Identity", {value})}).build()
              : graph_.op("Assign", {handle, value}).build());
    }
    return graph_.group({graph_.group(assigned, "restore_shard")}, "restore_all");
  }

  Output handle_of(const Variable& variable) {
    return graph_.operation(variable.op_name())->output(variable.handle.index);
  }
  Output value_of(const Variable& variable) {
    const Output handle = handle_of(variable);
    if (!variable.is_resource) return handle;
    return graph_.op("ReadVariableOp", {handle})
        .attr("dtype", variable.dtype)
        .named("Read/ReadVariableOp");
  }

  Graph& graph_;
  const std::vector<VariablePtr>& variables_;
  std::vector<DType> dtypes_;
  Tensor names_, slices_;
};

}  // namespace

SaverDef add_saver(Graph& graph, const std::vector<VariablePtr>& variables) {
  return SaverOps(graph, variables).add();
}

std::vector<VariablePtr> saved_variables(const Graph& graph) {
  std::vector<VariablePtr> variables = variables_in(graph, collection_keys::kGlobalVariables);
  std::stable_sort(
      variables.begin(), variables.end(),
      [](const VariablePtr& a, const VariablePtr& b) { return a->op_name() < b->op_name(); });
  return variables;
}

}  // namespace runhooks
