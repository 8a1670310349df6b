#include "training/saver.h"

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/files/atomic_file.h"

namespace runhooks {

namespace {

TensorSlice slice_of(const SaveSliceInfo& info) {
  TensorSlice slice;
  for (int i = 0; i < info.shape.rank(); ++i) {
    slice.start.push_back(info.offset[static_cast<size_t>(i)]);
    slice.length.push_back(info.shape.dim(i));
  }
  return slice;
}

class BundleSource : public TensorSource {
 public:
  explicit BundleSource(const std::string& path) : reader_(path) {}
  const std::string& path() const override { return reader_.prefix(); }
  std::optional<Info> find(const std::string& name) const override {
    if (!reader_.contains(name)) return std::nullopt;
    const BundleReader::Info info = reader_.info(name);
    return Info{info.dtype, info.shape};
  }
  std::vector<std::string> names_with(const std::string& prefix) const override {
    std::vector<std::string> names;
    for (const BundleReader::Info& info : reader_.tensors()) {
      if (info.name.rfind(prefix, 0) == 0) names.push_back(info.name);
    }
    return names;
  }
  Tensor read(const std::string& name) const override { return reader_.read(name); }
  Tensor read_part(const std::string& name, const SaveSliceInfo& slice) const override {
    return reader_.read_slice(name, slice_of(slice));
  }

 private:
  BundleReader reader_;
};

void delete_checkpoint(const std::string& path, const std::string& meta_suffix) {
  const std::string folder = parent_folder(path), base = base_name(path);
  for (const std::string& name : list_directory(folder.empty() ? "." : folder)) {
    const bool belongs = name == base + ".index" || name == base + "." + meta_suffix ||
                         name.rfind(base + ".data-", 0) == 0;
    if (belongs) remove_file(join_path(folder, name));
  }
}

}  // namespace

std::unique_ptr<TensorSource> open_checkpoint(const std::string& path) {
  return std::make_unique<BundleSource>(path);
}

void write_bundle(const std::string& prefix,
                  const std::vector<SaveablePtr>& saveables,
                  ResourceManager& resources) {
  BundleWriter writer(prefix);
  for (const SaveablePtr& saveable : saveables) {
    for (const SaveSpec& spec : saveable->save(resources)) {
      if (spec.slice) {
        writer.add_slice(spec.name, spec.slice->full_shape, slice_of(*spec.slice), spec.tensor);
      } else {
        writer.add(spec.name, spec.tensor);
      }
    }
  }
  writer.finish();
}

Saver::Saver(SaverOptions options)
    : options_(options),
      next_kept_time_(now_seconds() + options.keep_checkpoint_every_n_hours * 3600) {}

void Saver::build(const Graph& graph) { build(saveables_in(graph)); }

void Saver::build(std::vector<SaveablePtr> saveables) {
  saveables_ = std::move(saveables);
  built_ = true;
}

std::vector<SaveablePtr> Saver::all_saveables() const {
  std::vector<SaveablePtr> all = saveables_;
  all.insert(all.end(), attached_.begin(), attached_.end());
  return all;
}

std::string Saver::save(Session& session,
                        const std::string& prefix,
                        int64_t global_step,
                        bool with_graph,
                        bool with_state,
                        const SaveNames& names) {
  std::string step = str_cat(global_step);
  if (options_.pad_step_number && step.size() < 8) step.insert(0, 8 - step.size(), '0');
  const std::string path = global_step < 0 ? prefix : str_cat(prefix, "-", step);
  write_bundle(path, all_saveables(), session.resources());
  if (with_graph) {
    write_file_atomically(path + "." + names.meta_suffix,
                          graph_export_.meta_graph(session.graph()));
  }
  if (with_state) {
    note_checkpoint(path);
    write_state(path, names.state.empty() ? options_.state_name : names.state);
    delete_old(names.meta_suffix);
  }
  return path;
}

void Saver::restore(Session& session, const std::string& path) {
  if (!checkpoint_exists(path)) {
    fail(Code::kInvalidArgument, "The passed save_path is not a valid checkpoint: ", path);
  }
  log(LogLevel::kInfo, str_cat("Restoring parameters from ", path));
  restore_saveables(all_saveables(), BundleSource(path), session.resources());
}

void Saver::restore_model(Session& session, const std::string& path) const {
  log(LogLevel::kInfo, str_cat("Restoring parameters from ", path));
  restore_saveables(of_model(saveables_), BundleSource(path), session.resources());
}

void Saver::recover_last_checkpoints(const std::string& folder,
                                     const std::vector<std::string>& paths) {
  last_.clear();
  for (const std::string& path : paths) {
    if (!checkpoint_exists(path)) continue;
    if (is_same_path(parent_folder(path), folder)) {
      last_.emplace_back(path, modification_time(path + ".index"));
    } else {
      warn("checkpoint", str_cat("The state file of ", folder, " lists the checkpoint ", path,
                                 " of another folder, which is left alone."));
    }
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

void Saver::write_state(const std::string& path, const std::string& name) const {
  const std::string folder = parent_folder(path);
  write_checkpoint_state(
      folder, make_checkpoint_state(folder, path, last_checkpoints(), options_.save_relative_paths),
      name);
}

void Saver::delete_old(const std::string& meta_suffix) {
  for (const auto& checkpoint : to_delete_) {
    if (checkpoint.second > next_kept_time_) {
      next_kept_time_ += options_.keep_checkpoint_every_n_hours * 3600;
      continue;
    }
    delete_checkpoint(checkpoint.first, meta_suffix);
  }
  to_delete_.clear();
}

}  // namespace runhooks
