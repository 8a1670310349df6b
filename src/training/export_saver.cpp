#include "training/export_saver.h"

namespace runhooks {

namespace {

class SaverOps {
 public:
  SaverOps(Graph& graph, const std::vector<SaveablePtr>& saveables) : graph_(graph) {
    std::vector<std::string> names, slices;
    for (const SaveablePtr& saveable : saveables) {
      all_.push_back(saveable->lowered());
      for (const SaveableOps::Spec& spec : all_.back().specs) {
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

  // Writes one shard to a temporary directory; MergeV2Checkpoints then makes it the checkpoint.
  Output save(Output prefix) {
    const Output folder =
        graph_.op("StringJoin", {prefix, text("_temp/part", "Const")}).named("StringJoin");
    const Output count = graph_.scalar(DType::kInt32, 1, "num_shards");
    const Output shard = graph_.scalar(DType::kInt32, 0, "ShardedFilename/shard");
    const Output file =
        graph_.op("ShardedFilename", {folder, shard, count}).named("ShardedFilename");
    std::vector<Output> inputs = {file, graph_.constant(names_, "SaveV2/tensor_names"),
                                  graph_.constant(slices_, "SaveV2/shape_and_slices")};
    for (const SaveableOps& one : all_) {
      for (const Output& value : one.values(graph_)) inputs.push_back(value);
    }
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
    int next = 0;
    for (const SaveableOps& one : all_) {
      std::vector<Output> values;
      for (size_t i = 0; i < one.specs.size(); ++i) values.push_back(read->output(next++));
      assigned.push_back(one.restore(graph_, values));
    }
    return graph_.group({graph_.group(assigned, "restore_shard")}, "restore_all");
  }

  Graph& graph_;
  std::vector<SaveableOps> all_;
  std::vector<DType> dtypes_;
  Tensor names_, slices_;
};

}  // namespace

SaverDef add_saver(Graph& graph, const std::vector<SaveablePtr>& saveables) {
  return SaverOps(graph, saveables).add();
}

}  // namespace runhooks
