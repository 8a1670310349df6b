#include "estimators/export/export.h"

#include "base/log.h"
#include "estimators/export/export_folder.h"
#include "graph/collection_item.h"
#include "graph/lowering.h"
#include "io/graphs/graph_def.h"
#include "io/proto/text_format.h"
#include "training/export_saver.h"
#include "training/saved_step.h"

namespace runhooks {

namespace {

constexpr const char* kMainOp = "saved_model_main_op";
constexpr const char* kModel = "saved_model.pb";
constexpr const char* kModelText = "saved_model.pbtxt";

void copy_file(const std::string& from, const std::string& to) {
  create_directories(parent_folder(to));
  write_file_atomically(to, read_whole_file(from));
}

// Copies files that the graph reads to the directory `assets`, under unique names. The file system
// of the directory decides which names are equal: some treat "Words" and "words" as one.
class Assets {
 public:
  Assets(const Graph& graph, std::string folder) : folder_(std::move(folder)) {
    for (const Output& path : collection_of<Output>(graph, "asset_filepaths")) {
      const std::string& source = path.op->attr<Tensor>("value").string_at(0);
      files_.push_back({path.name(), name_for(source)});
    }
  }
  const std::vector<AssetFileDef>& files() const { return files_; }

 private:
  const std::string& name_for(const std::string& source) {
    for (const auto& entry : sources_) {
      if (entry.second == source) return entry.first;
    }
    std::string name = base_name(source);
    for (int i = 1; file_exists(join_path(folder_, name)); ++i) {
      name = str_cat(base_name(source), "_", i);
    }
    copy_file(source, join_path(folder_, name));
    return sources_.emplace(name, source).first->first;
  }
  std::string folder_;
  std::map<std::string, std::string> sources_;
  std::vector<AssetFileDef> files_;
};

Operation* add_main_op(Graph& lowered, const Graph& graph, const Scaffold& scaffold) {
  std::vector<Operation*> ops;
  if (scaffold.local_init_op) {
    ops.push_back(lowered.operation(scaffold.local_init_op->name()));
  } else {
    for (const VariablePtr& variable : variables_in(graph, collection_keys::kLocalVariables)) {
      ops.push_back(lowered.operation(variable->initializer->name()));
    }
  }
  for (Operation* op : collection_of<Operation*>(lowered, collection_keys::kTableInitializers)) {
    ops.push_back(op);
  }
  return lowered.group(ops);
}

// Lists the files in assets.extra, so that a later export to this directory can delete them.
CollectionDef extra_files(const ExportOptions& options) {
  CollectionDef names;
  names.kind = CollectionDef::Kind::kBytesList;
  for (const auto& file : options.assets_extra) names.strings.push_back(file.first);
  return names;
}

std::string serialized_meta_graph(const Graph& graph,
                                  const Scaffold& scaffold,
                                  std::map<std::string, SignatureDef> signatures,
                                  const ExportOptions& options,
                                  const std::string& folder) {
  const std::shared_ptr<Graph> lowered = lowered_graph(graph);
  Operation* main_op = add_main_op(*lowered, graph, scaffold);
  const Assets assets(*lowered, join_path(folder, "assets"));
  MetaGraphDef meta_graph;
  meta_graph.tags = {"serve"};
  meta_graph.collections = collection_defs(*lowered);
  meta_graph.collections.erase(collection_keys::kSavers);
  meta_graph.collections[kMainOp] = node_list({main_op->name()});
  if (!assets.files().empty()) {
    meta_graph.collections["saved_model_assets"] = asset_collection(assets.files());
  }
  if (!options.assets_extra.empty()) {
    meta_graph.collections[kExtraFiles] = extra_files(options);
  }
  meta_graph.saver_def = add_saver(*lowered, exported_saveables_in(graph));
  meta_graph.signatures = std::move(signatures);
  meta_graph.stripped_default_attrs = options.strip_default_attrs;
  GraphDefOptions graph_options;
  graph_options.strip_default_attrs = options.strip_default_attrs;
  meta_graph.op_list = write_op_list(*lowered);
  meta_graph.graph_def = write_graph_def(make_graph_def(*lowered, graph_options));
  return write_meta_graph(meta_graph);
}

void write_variables(const std::shared_ptr<Graph>& graph,
                     Scaffold& scaffold,
                     const std::string& checkpoint,
                     const std::string& folder) {
  Session session(graph);
  if (!scaffold.saver->is_built()) scaffold.saver->build(*graph);
  scaffold.saver->restore(session, checkpoint);
  create_directories(folder);
  write_bundle(join_path(folder, "variables"), exported_saveables_in(*graph), session.resources());
}

void copy_extra_assets(const ExportOptions& options, const std::string& folder) {
  for (const auto& [to, from] : options.assets_extra) {
    if (!is_path_within_folder(to)) {
      invalid_argument("`assets_extra` must name files inside the directory assets.extra; got '",
                       to, "'.");
    }
    copy_file(from, join_path(join_path(folder, "assets.extra"), to));
  }
}

}  // namespace

void Estimator::export_saved_model(const ReceiverFn& receiver_fn,
                                   const ExportOptions& options,
                                   const std::string& folder) const {
  std::string checkpoint = options.checkpoint_path;
  if (checkpoint.empty()) {
    checkpoint = newest_weights(config_.model_dir, CheckpointCheck::kContent);
  }
  if (checkpoint.empty()) {
    throw Error(
        Code::kInvalidArgument,
        str_cat("An export needs a trained model; ", config_.model_dir, " has no checkpoint."),
        {"`train(model)` trains it."});
  }
  Named<Feature> receivers;
  const InputFn input_fn = [&](Graph& graph, Mode) {
    ServingReceiver receiver = receiver_fn(graph);
    receivers = std::move(receiver.receivers);
    return receiver.input;
  };
  const Built built = build(input_fn, Mode::kPredict);
  auto signatures = export_signatures(built.spec, receivers);
  write_variables(built.graph, *built.spec.scaffold, checkpoint, join_path(folder, "variables"));
  const std::string meta_graph = serialized_meta_graph(*built.graph, *built.spec.scaffold,
                                                       std::move(signatures), options, folder);
  copy_extra_assets(options, folder);
  const std::string model = write_saved_model({meta_graph});
  if (options.as_text) {
    write_file_atomically(join_path(folder, kModelText),
                          proto_to_text(model, "SavedModel", kModelText));
  } else {
    write_file_atomically(join_path(folder, kModel), model);
  }
}

}  // namespace runhooks
