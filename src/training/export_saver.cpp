#include "training/export_saver.h"

namespace runhooks {

namespace {

class SaverOps {
 public:
  SaverOps(Graph& graph, const std::vector<SaveablePtr>& saveables) : graph_(graph) {
    std::vector<std::string> names, slices;
    for (const SaveablePtr& saveable : saveables) {
      saveables_.push_back(saveable->lowered());
      for (const SaveableOps::Spec& spec : saveables_.back().specs) {
        names.push_back(spec.name);
        slices.push_back(spec.slice);
        dtypes_.push_back(spec.dtype);
      }
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

  // Like TensorFlow, writes one shard to a temporary directory, and then moves it to its final
  // place with MergeV2Checkpoints.
  Output save(Output prefix) {
    const Output part_prefix =
        graph_.op("StringJoin", {prefix, text("_temp/part", "Const")}).named("StringJoin");
    const Output count = graph_.scalar(DType::kInt32, 1, "num_shards");
    const Output shard = graph_.scalar(DType::kInt32, 0, "ShardedFilename/shard");
    const Output file =
        graph_.op("ShardedFilename", {part_prefix, shard, count}).named("ShardedFilename");
    std::vector<Output> inputs = {file, graph_.constant(names_, "SaveV2/tensor_names"),
                                  graph_.constant(slices_, "SaveV2/shape_and_slices")};
    for (const SaveableOps& saveable : saveables_) {
      for (const Output& value : saveable.values(graph_)) inputs.push_back(value);
    }
    Operation* save = graph_.op("SaveV2", inputs).attr("dtypes", dtypes_).named("SaveV2");
    const Output saved_file =
        graph_.op("Identity", {file}).named("control_dependency").after({save});
    const Output saved_files =
        graph_.op("Pack", {saved_file}).named("MergeV2Checkpoints/checkpoint_prefixes");
    Operation* merge =
        graph_.op("MergeV2Checkpoints", {saved_files, prefix}).named("MergeV2Checkpoints");
    return graph_.op("Identity", {prefix}).named("Identity").after({merge, saved_file.op});
  }

  Operation* restore(Output prefix) {
    Operation* read =
        graph_
            .op("RestoreV2", {prefix, graph_.constant(names_, "RestoreV2/tensor_names"),
                              graph_.constant(slices_, "RestoreV2/shape_and_slices")})
            .attr("dtypes", dtypes_)
            .named("RestoreV2");
    std::vector<Operation*> restored;
    int next = 0;
    for (const SaveableOps& saveable : saveables_) {
      std::vector<Output> values;
      for (size_t i = 0; i < saveable.specs.size(); ++i) values.push_back(read->output(next++));
      restored.push_back(saveable.restore(graph_, values));
    }
    return graph_.group({graph_.group(restored, "restore_shard")}, "restore_all");
  }

  Graph& graph_;
  std::vector<SaveableOps> saveables_;
  std::vector<DType> dtypes_;
  Tensor names_, slices_;
};

}  // namespace

SaverDef add_saver(Graph& graph, const std::vector<SaveablePtr>& saveables) {
  return SaverOps(graph, saveables).add();
}

}  // namespace runhooks
