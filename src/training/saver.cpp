#include "training/saver.h"

#include <algorithm>

#include "io/atomic_file.h"
#include "io/checkpoint_state.h"
#include "io/tensor_bundle.h"
#include "base/clock.h"
#include "base/log.h"

namespace runhooks {

namespace {

// Beside the variables: TensorFlow reads what it looks for and ignores the rest.
const std::string kHookStatePrefix = "runhooks/hook_state/";

HookStates read_hook_states(const BundleReader& reader) {
  HookStates states;
  for (const BundleReader::Info& info : reader.tensors()) {
    if (info.name.rfind(kHookStatePrefix, 0) != 0) continue;
    states[info.name.substr(kHookStatePrefix.size())] = reader.read(info.name);
  }
  return states;
}

TensorSlice slice_of(const SaveSliceInfo& info) {
  TensorSlice slice;
  for (int i = 0; i < info.shape.rank(); ++i) {
    slice.start.push_back(info.offset[static_cast<size_t>(i)]);
    slice.length.push_back(info.shape.dim(i));
  }
  return slice;
}

Tensor read_value(const BundleReader& reader, const Variable& variable, const std::string& key) {
  if (!reader.contains(key)) {
    throw Error(
        Code::kNotFound, str_cat("Key ", key, " not found in checkpoint ", reader.prefix(), "."),
        {"The model has a variable that was not there when the checkpoint was written. Use another "
         "model_dir, or the model that the checkpoint is of."});
  }
  const BundleReader::Info info = reader.info(key);
  const Shape& wanted = variable.slice ? variable.slice->full_shape : variable.shape;
  if (info.shape != wanted || info.dtype != variable.dtype) {
    throw Error(Code::kInvalidArgument,
                str_cat("Variable '", key, "' is ", dtype_name(variable.dtype), " of shape ",
                        wanted, " in the model, but ", dtype_name(info.dtype), " of shape ",
                        info.shape, " in checkpoint ", reader.prefix(), "."),
                {"Use another model_dir, or the model that the checkpoint is of."});
  }
  return variable.slice ? reader.read_slice(key, slice_of(*variable.slice)) : reader.read(key);
}

void delete_checkpoint(const std::string& path) {
  const std::string folder = parent_folder(path), base = base_name(path);
  for (const std::string& name : list_directory(folder.empty() ? "." : folder)) {
    const bool belongs =
        name == base + ".index" || name == base + ".meta" || name.rfind(base + ".data-", 0) == 0;
    if (belongs) remove_file(join_path(folder, name));
  }
}

std::vector<Tensor> read_values(const BundleReader& reader,
                                const std::vector<VariablePtr>& variables,
                                const std::vector<std::string>& keys = {}) {
  std::vector<Tensor> values;
  for (size_t i = 0; i < variables.size(); ++i) {
    const std::string& key = keys.empty() ? variables[i]->save_name() : keys[i];
    values.push_back(read_value(reader, *variables[i], key));
  }
  return values;
}

}  // namespace

std::vector<Tensor> read_variables(const std::string& path,
                                   const std::vector<VariablePtr>& variables,
                                   const std::vector<std::string>& keys) {
  return read_values(BundleReader(path), variables, keys);
}

Saver::Saver(SaverOptions options)
    : options_(options),
      next_kept_time_(now_seconds() + options.keep_checkpoint_every_n_hours * 3600) {}

void Saver::build(const Graph& graph) {
  variables_ = variables_in(graph, collection_keys::kGlobalVariables);
  std::sort(variables_.begin(), variables_.end(), [](const VariablePtr& a, const VariablePtr& b) {
    return a->save_name() < b->save_name();
  });
  built_ = true;
}

std::string Saver::save(Session& session,
                        const std::string& prefix,
                        int64_t global_step,
                        bool with_graph) {
  if (state_source_) hook_states_ = state_source_();
  return save_known(session, prefix, global_step, with_graph);
}

std::string Saver::save_known(Session& session,
                              const std::string& prefix,
                              int64_t global_step,
                              bool with_graph) {
  const std::string path = global_step < 0 ? prefix : str_cat(prefix, "-", global_step);
  BundleWriter writer(path);
  for (const VariablePtr& variable : variables_) {
    const Tensor& value = session.value(*variable);
    if (variable->slice) {
      writer.add_slice(variable->save_name(), variable->slice->full_shape,
                       slice_of(*variable->slice), value);
    } else {
      writer.add(variable->save_name(), value);
    }
  }
  for (const auto& state : hook_states_) writer.add(kHookStatePrefix + state.first, state.second);
  writer.finish();
  if (with_graph) {
    write_file_atomically(path + ".meta", graph_export_.meta_graph(session.graph()));
  }
  note_checkpoint(path);
  write_state(path);
  delete_old();
  return path;
}

void Saver::restore(Session& session, const std::string& path) {
  if (!checkpoint_exists(path)) {
    fail(Code::kInvalidArgument, "The passed save_path is not a valid checkpoint: ", path);
  }
  log(LogLevel::kInfo, str_cat("Restoring parameters from ", path));
  const BundleReader reader(path);
  const std::vector<Tensor> values = read_values(reader, variables_);
  for (size_t i = 0; i < variables_.size(); ++i) session.assign(*variables_[i], values[i]);
  hook_states_ = read_hook_states(reader);
}

void Saver::recover_last_checkpoints(const std::vector<std::string>& paths) {
  last_.clear();
  for (const std::string& path : paths) {
    if (checkpoint_exists(path)) last_.emplace_back(path, modification_time(path + ".index"));
  }
}

std::vector<std::string> Saver::last_checkpoints() const {
  std::vector<std::string> paths;
  for (const auto& checkpoint : last_) paths.push_back(checkpoint.first);
  return paths;
}

void Saver::note_checkpoint(const std::string& path) {
  if (options_.max_to_keep <= 0) return;
  last_.erase(std::remove_if(last_.begin(), last_.end(),
                             [&path](const auto& checkpoint) { return checkpoint.first == path; }),
              last_.end());
  last_.emplace_back(path, now_seconds());
  while (static_cast<int64_t>(last_.size()) > options_.max_to_keep) {
    to_delete_.push_back(last_.front());
    last_.erase(last_.begin());
  }
}

void Saver::write_state(const std::string& path) const {
  const std::string folder = parent_folder(path);
  write_checkpoint_state(folder, make_checkpoint_state(folder, path, last_checkpoints(),
                                                       options_.save_relative_paths));
}

void Saver::delete_old() {
  for (const auto& checkpoint : to_delete_) {
    if (checkpoint.second > next_kept_time_) {
      next_kept_time_ += options_.keep_checkpoint_every_n_hours * 3600;
      continue;
    }
    delete_checkpoint(checkpoint.first);
  }
  to_delete_.clear();
}

}  // namespace runhooks
