#include "estimators/export/loaded_model.h"

#include <algorithm>
#include <set>

#include "base/memory.h"
#include "base/suggestions.h"
#include "estimators/export/export_folder.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/files/atomic_file.h"
#include "io/proto/text_format.h"
#include "training/import_meta_graph.h"

namespace runhooks {

namespace {

// The collections that may contain the initialization op, in TensorFlow's order of preference.
constexpr const char* kInitCollections[] = {"saved_model_main_op", "legacy_init_op"};
constexpr const char* kInitSignature = "__saved_model_init_op";

// If a model has more signatures, executors are created on first use: a small file can have many
// signatures with large execution plans.
constexpr size_t kMaxEagerExecutors = 16;
// Limits the memory of initialization, since a few operations of an untrusted model could use all.
constexpr uint64_t kMaxInitBytes = 256 << 20;

std::string op_of(const std::string& tensor) { return tensor.substr(0, tensor.rfind(':')); }

std::string bytes_of_model(const std::string& folder,
                           const FileAccessPolicy& policy,
                           std::string* file) {
  *file = join_path(folder, "saved_model.pb");
  if (file_exists(*file)) return read_whole_file(policy.readable(*file));
  *file += "txt";
  if (!file_exists(*file)) {
    std::vector<std::string> hints;
    const std::string ready = interrupted_export(folder);
    if (!ready.empty()) {
      hints.push_back(str_cat("An interrupted export left a complete model in ", ready, "."));
    }
    throw Error(Code::kNotFound,
                str_cat("SavedModel file does not exist at: ", folder,
                        "/{saved_model.pbtxt|saved_model.pb}"),
                hints);
  }
  std::string bytes, problem;
  if (!text_to_proto(read_whole_file(policy.readable(*file)), "SavedModel", &bytes, &problem)) {
    fail(Code::kDataLoss, "Cannot read '", *file, "': ", problem);
  }
  return bytes;
}

std::vector<std::string> tensor_names(const std::map<std::string, TensorInfo>& infos) {
  std::vector<std::string> names;
  for (const auto& info : infos) {
    if (info.second.name.empty()) {
      fail(Code::kUnimplemented, "'", info.first, "' is a sparse tensor");
    }
    names.push_back(info.second.name);
  }
  return names;
}

const Tensor* constant_of(const Output& output) {
  const Operation* op = output.op;
  while (op->def().is_identity) op = op->input(0).op;
  return op->def().is_constant ? &op->attr<Tensor>("value") : nullptr;
}

ExampleFeature sparse_feature(const std::string& key, DType dtype) {
  ExampleFeature feature;
  feature.key = key;
  feature.dtype = dtype;
  return feature;
}

ExampleFeature dense_feature(const std::string& key,
                             const Output& default_value,
                             const Shape& shape) {
  ExampleFeature feature = sparse_feature(key, default_value.dtype());
  const bool is_sequence = shape.rank() > 0 && shape.dim(0) < 0;
  feature.is_dense = !is_sequence;
  if (is_sequence) return feature;
  feature.row_size = shape.num_elements();
  const Tensor* value = constant_of(default_value);
  feature.is_required = value && value->num_elements() == 0 && feature.row_size > 0;
  return feature;
}

// Whether the op parses a batch of examples (ParseExample and ParseExampleV2).
bool parses_batches(const Operation& op) {
  const OpDef& def = op.def();
  return !def.inputs.empty() && def.inputs[0].name == "serialized" &&
         def.find_attr("dense_shapes") && !def.find_attr("dense_keys");
}
// ParseExampleV2 takes its keys as one vector instead of one input per key.
bool has_keys_in_vectors(const Operation& op) {
  return op.def().find_attr("ragged_value_types") != nullptr;
}

std::vector<ExampleFeature> features_of(const Operation& op) {
  const bool is_v2 = has_keys_in_vectors(op);
  const auto& types = op.attr<std::vector<DType>>("sparse_types");
  const auto& shapes = op.attr<std::vector<Shape>>("dense_shapes");
  std::vector<ExampleFeature> features;
  const auto key = [&](int input, size_t i) -> std::string {
    const Tensor* keys = constant_of(op.input(is_v2 ? input : input + static_cast<int>(i)));
    const auto index = static_cast<int64_t>(is_v2 ? i : 0);
    return keys && index < keys->num_elements() ? keys->string_at(index) : "";
  };
  const int dense_keys = is_v2 ? 3 : 2 + static_cast<int>(types.size());
  const int defaults = is_v2 ? 5 : dense_keys + static_cast<int>(shapes.size());
  for (size_t i = 0; i < types.size(); ++i) features.push_back(sparse_feature(key(2, i), types[i]));
  for (size_t i = 0; i < shapes.size(); ++i) {
    features.push_back(
        dense_feature(key(dense_keys, i), op.input(defaults + static_cast<int>(i)), shapes[i]));
  }
  return features;
}

using Parsers = std::map<std::pair<const Operation*, int>, std::vector<const Operation*>>;

Parsers parsers_in(const Graph& graph) {
  Parsers parsers;
  for (const auto& op : graph.operations()) {
    if (!parses_batches(*op)) continue;
    parsers[{op->input(0).op, op->input(0).index}].push_back(op.get());
  }
  return parsers;
}

std::vector<ExampleFeature> features_parsed_from(const Parsers& parsers, const Output& examples) {
  std::vector<ExampleFeature> features;
  std::set<std::string> keys;
  const auto found = parsers.find({examples.op, examples.index});
  if (found == parsers.end()) return features;
  for (const Operation* op : found->second) {
    for (const ExampleFeature& feature : features_of(*op)) {
      if (keys.insert(feature.key).second) features.push_back(feature);
    }
  }
  return features;
}

}  // namespace

LoadedModel::LoadedModel(const std::string& folder, const std::vector<std::string>& tags)
    : folder_(folder),
      access_policy_(FileAccessPolicy::below_folder(folder)),
      graph_(std::make_shared<Graph>()) {
  read(tags);
  import();
  graph_->finalize();
  session_ = std::make_unique<Session>(graph_);
  session_->resources().set_file_access(access_policy_);
  initialize();
}

void LoadedModel::read(const std::vector<std::string>& tags) {
  const std::string bytes = bytes_of_model(folder_, access_policy_, &file_);
  const std::set<std::string> requested(tags.begin(), tags.end());
  std::vector<std::string> available;
  for (const std::string& message : read_saved_model(bytes, file_)) {
    MetaGraphDef meta_graph = read_meta_graph(message, file_);
    const std::set<std::string> found(meta_graph.tags.begin(), meta_graph.tags.end());
    available.push_back("{" + str_join(found, ", ") + "}");
    if (found != requested) continue;
    meta_graph_ = std::move(meta_graph);
    assets_ = asset_files(meta_graph_, file_);
    return;
  }
  throw Error(Code::kNotFound,
              str_cat("MetaGraphDef associated with tags {", str_join(requested, ", "),
                      "} could not be found in SavedModel '", folder_, "'."),
              {str_cat("It has the tags ", str_join(available, ", "), ".")});
}

void LoadedModel::import() {
  ImportOptions options;
  options.rights = ImportRights::kReadFiles;
  GraphImporter importer(*graph_, read_graph_def(meta_graph_.graph_def, file_), options);
  std::vector<std::string> problems;
  for (const auto& [name, signature] : meta_graph_.signatures) {
    if (name == kInitSignature) continue;
    Runnable& runnable = runnables_[name];
    try {
      std::vector<std::string> nodes;
      const auto inputs = tensor_names(signature.inputs), outputs = tensor_names(signature.outputs);
      for (const std::string& tensor : inputs) nodes.push_back(op_of(tensor));
      for (const std::string& tensor : outputs) nodes.push_back(op_of(tensor));
      importer.import(nodes);
      for (const std::string& tensor : inputs) runnable.inputs.push_back(importer.tensor(tensor));
      for (const std::string& tensor : outputs) runnable.outputs.push_back(importer.tensor(tensor));
    } catch (const Error& error) {
      if (error.code() != Code::kUnimplemented) throw;
      runnable.problem = error.message();
      problems.push_back(str_cat("Signature '", name, "': ", error.message()));
    }
  }
  const Parsers parsers = parsers_in(*graph_);
  for (auto& [name, runnable] : runnables_) {
    const bool is_text = runnable.problem.empty() && runnable.inputs.size() == 1 &&
                         runnable.inputs[0].dtype() == DType::kString;
    if (is_text) runnable.features = features_parsed_from(parsers, runnable.inputs[0]);
  }
  if (!problems.empty() && problems.size() == runnables_.size()) {
    throw Error(Code::kUnimplemented,
                str_cat("No signature of the model in '", folder_, "' can be run."), problems);
  }
  std::vector<std::string> init;
  for (const char* name : kInitCollections) {
    const auto found = meta_graph_.collections.find(name);
    if (found == meta_graph_.collections.end() || !init.empty()) continue;
    init = found->second.strings;
  }
  const auto init_signature = meta_graph_.signatures.find(kInitSignature);
  if (init.empty() && init_signature != meta_graph_.signatures.end()) {
    for (const auto& output : init_signature->second.outputs) {
      init.push_back(op_of(output.second.name));
    }
  }
  importer.import(init);
  for (const std::string& name : init) init_ops_.push_back(importer.find(name));
  if (meta_graph_.saver_def && !meta_graph_.saver_def->restore_op_name.empty()) {
    const SaverDef& saver = *meta_graph_.saver_def;
    importer.import({saver.restore_op_name, op_of(saver.filename_tensor_name)});
    restore_op_ = importer.find(saver.restore_op_name);
    restore_path_ = importer.tensor(saver.filename_tensor_name);
  }
}

void LoadedModel::initialize() {
  const std::string prefix = join_path(join_path(folder_, "variables"), "variables");
  if (restore_op_ && checkpoint_exists(prefix)) {
    session_->run({Fetch(restore_op_)}, {{restore_path_, Tensor::string_scalar(prefix)}});
  }
  Feeds feeds;
  for (const AssetFileDef& asset : assets_) {
    const Operation* op = graph_->find_operation(op_of(asset.tensor_name));
    if (!op) continue;  // belongs to a signature that cannot be run
    const std::string path = join_path(join_path(folder_, "assets"), asset.filename);
    feeds.emplace_back(graph_->tensor(asset.tensor_name), Tensor::string_scalar(path));
  }
  {
    const MemoryBudget budget(kMaxInitBytes);
    for (Operation* op : init_ops_) session_->run({Fetch(op)}, feeds);
  }
  if (runnables_.size() > kMaxEagerExecutors) return;
  for (auto& [name, runnable] : runnables_) {
    if (runnable.problem.empty()) executor_of(runnable);
  }
}

const std::shared_ptr<Executor>& LoadedModel::executor_of(const Runnable& runnable) {
  if (!runnable.executor) {
    runnable.executor = session_->executor(runnable.outputs, runnable.inputs);
  }
  return runnable.executor;
}

const LoadedModel::Runnable& LoadedModel::runnable(const std::string& name) const {
  const auto found = runnables_.find(name);
  if (found == runnables_.end()) {
    std::vector<std::string> names;
    for (const auto& entry : runnables_) names.push_back(entry.first);
    std::vector<std::string> hints = did_you_mean(name, names);
    hints.push_back(str_cat("Its signatures are: ", str_join(names, ", "), "."));
    throw Error(Code::kNotFound,
                str_cat("The model in '", folder_, "' has no signature '", name, "'."), hints);
  }
  if (!found->second.problem.empty()) {
    fail(Code::kUnimplemented, "Signature '", name, "' cannot be run: ", found->second.problem);
  }
  return found->second;
}

const SignatureDef& LoadedModel::signature(const std::string& name) const {
  runnable(name);
  return meta_graph_.signatures.at(name);
}

const std::vector<ExampleFeature>& LoadedModel::example_features(const std::string& name) const {
  return runnable(name).features;
}

std::vector<Tensor> LoadedModel::run(const std::string& name, const std::vector<Tensor>& inputs) {
  const Runnable& runnable = this->runnable(name);
  const std::shared_ptr<Executor> executor = executor_of(runnable);
  const Executor::Retain hold(*executor);
  executor->run(inputs);
  std::vector<Tensor> outputs;
  for (size_t i = 0; i < runnable.outputs.size(); ++i) outputs.push_back(executor->result(i));
  return outputs;
}

}  // namespace runhooks
