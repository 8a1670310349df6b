#include "training/saver.h"

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/log.h"
#include "io/checkpoint/checkpoint_state.h"
#include "io/checkpoint/tensor_bundle.h"
#include "io/files/atomic_file.h"
#include "io/files/stale_files.h"
#include "training/graph_export.h"

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

// Removes the index first: without it, the other files are not a checkpoint.
void delete_checkpoint(const std::string& path, const std::string& meta_suffix) {
  remove_file(path + ".index");
  const std::string folder = parent_folder(path), base = base_name(path);
  for (const std::string& name : list_names_with_prefix(folder, base + ".data-")) {
    remove_file(join_path(folder, name));
  }
  remove_file(path + "." + meta_suffix);
}

void write_if_changed(const std::string& path, const std::string& bytes) {
  const bool is_same = file_exists(path) && !is_directory(path) &&
                       file_size(path) == bytes.size() && read_whole_file(path) == bytes;
  if (!is_same) write_file_atomically(path, bytes);
}

// --- Crash recovery: if the process is killed during save(), a checkpoint may be incomplete, or
// complete but not listed in the state file. Temporary files name these checkpoints, so that the
// next saver can delete them with remove_leftovers(). For example, save() of step 30, which
// replaces the checkpoint of step 10, does the following:
//
// 1. Writes checkpoint.saving.<id>, which lists step 10 (DeletionJournal).
// 2. Writes checkpoint.saving.next.<id>, which lists steps 20 and 30 (PendingStateFile).
// 3. Writes model.ckpt-30.data-* and then model.ckpt-30.index, which makes the checkpoint valid.
// 4. Renames checkpoint.saving.next.<id> to checkpoint, which makes step 30 the newest checkpoint.
// 5. Removes model.ckpt-10.* and checkpoint.saving.<id>.

std::string pending_prefix(const std::string& state_name) { return state_name + ".saving.next"; }
std::string journal_prefix(const std::string& state_name) { return state_name + ".saving"; }

// The next state file: a temporary file until the new checkpoint is complete, then renamed. If the
// process is killed in between, the temporary file names the incomplete checkpoint.
class PendingStateFile {
 public:
  PendingStateFile(const std::string& folder, const std::string& name, const CheckpointState& state)
      : file_(join_path(folder, name), join_path(folder, pending_prefix(name))) {
    file_.write(checkpoint_state_text(state));
    file_.output().flush();
  }
  void commit() { file_.commit(); }

 private:
  AtomicFile file_;
};

// A temporary file that lists the checkpoints to be deleted, because the next state file no longer
// lists them. The destructor removes the file.
class DeletionJournal {
 public:
  DeletionJournal(const std::string& folder,
                  const std::string& state,
                  const std::vector<std::string>& expired_checkpoints) {
    CheckpointState names;
    for (const std::string& checkpoint : expired_checkpoints) {
      if (parent_folder(checkpoint) == folder)
        names.all_model_checkpoint_paths.push_back(base_name(checkpoint));
    }
    if (names.all_model_checkpoint_paths.empty()) return;
    names.model_checkpoint_path = names.all_model_checkpoint_paths.back();
    path_ = temporary_path(join_path(folder, journal_prefix(state)));
    // Not synced to disk, because the journal is needed after a killed process, not after a failure
    // of the machine.
    OutputFile file(path_);
    file.write(checkpoint_state_text(names));
    file.close();
  }
  ~DeletionJournal() {
    std::error_code ignored;
    if (!path_.empty() && !retains_file_) std::filesystem::remove(fs_path(path_), ignored);
  }
  DeletionJournal(const DeletionJournal&) = delete;
  DeletionJournal& operator=(const DeletionJournal&) = delete;
  // Keeps the file for the next process; called if a checkpoint could not be deleted.
  void retain_file() { retains_file_ = true; }

 private:
  std::string path_;
  bool retains_file_ = false;
};

// Returns the names of the checkpoints in `folder` that `path` lists, a temporary file of a killed
// process.
std::vector<std::string> checkpoints_listed_in(const std::string& path,
                                               const std::string& folder,
                                               const std::string& state_name) {
  CheckpointState listed_state;
  std::string problem;
  if (!parse_checkpoint_state(read_whole_file(path), &listed_state, &problem)) return {};
  // A pending state file (PendingStateFile) also lists older checkpoints. These are complete, so
  // only its newest checkpoint counts.
  const bool is_next = is_temporary_of(path, pending_prefix(state_name));
  if (is_next) listed_state.all_model_checkpoint_paths = {listed_state.model_checkpoint_path};
  std::vector<std::string> names;
  for (const std::string& name : listed_state.all_model_checkpoint_paths) {
    const std::string base = base_name(name);
    const bool is_in_folder =
        name == base || (is_next && is_same_path(parent_folder(name), folder));
    if (is_in_folder && !base.empty()) names.push_back(base);
  }
  return names;
}

// Removes those of the checkpoints `names` that the state file does not list. From the others,
// removes data files that their index does not use.
void remove_unlisted(const std::vector<std::string>& names,
                     const std::string& folder,
                     const std::vector<std::string>& listed) {
  for (const std::string& name : names) {
    const std::string path = join_path(folder, name);
    const bool is_listed =
        std::any_of(listed.begin(), listed.end(),
                    [&](const std::string& checkpoint) { return is_same_path(checkpoint, path); });
    if (is_listed) {
      remove_unused_data_files(path);
    } else {
      delete_checkpoint(path, "meta");
    }
  }
}

}  // namespace

void remove_leftovers(const std::string& folder,
                      const std::string& basename,
                      const std::string& state_name) {
  const std::vector<std::string> leftover_files = stale_files(folder, {journal_prefix(state_name)});
  if (!leftover_files.empty()) {
    std::vector<std::string> warnings;  // ignored here; restoring a checkpoint reports them
    const auto state = read_checkpoint_state(folder, &warnings, state_name);
    std::vector<std::string> listed;
    if (state) listed = newest_first(*state);
    // If the state file cannot be read, nothing is removed, because it may list any checkpoint.
    const bool is_state_readable = state || !file_exists(join_path(folder, state_name));
    for (const std::string& file : leftover_files) {
      const bool is_of_saver = is_temporary_of(file, journal_prefix(state_name)) ||
                               is_temporary_of(file, pending_prefix(state_name));
      if (!is_state_readable || !is_of_saver) continue;
      remove_unlisted(checkpoints_listed_in(file, folder, state_name), folder, listed);
    }
  }
  remove_stale_files(folder, {state_name + ".", basename});
}

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
      next_permanent_save_(now_seconds() + options.keep_checkpoint_every_n_hours * 3600) {}

void Saver::build(const Graph& graph) { build(saveables_in(graph)); }

void Saver::build(std::vector<SaveablePtr> saveables) {
  saveables_ = std::move(saveables);
  is_built_ = true;
}

std::vector<SaveablePtr> Saver::all_saveables() const {
  std::vector<SaveablePtr> result = saveables_;
  result.insert(result.end(), attached_.begin(), attached_.end());
  return result;
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
  if (!with_state) {
    write(session, path, with_graph, names);
    return path;
  }
  const std::string state = names.state.empty() ? options_.state_name : names.state;
  const std::string folder = parent_folder(path);
  if (cleaned_prefix_ != prefix + state) {
    remove_leftovers(folder.empty() ? "." : folder, base_name(prefix), state);
    cleaned_prefix_ = prefix + state;
  }
  const Checkpoints checkpoints = checkpoints_with(path);
  double next_permanent_save = next_permanent_save_;
  const std::vector<std::string> expired_checkpoints = expired(checkpoints, &next_permanent_save);
  create_directories(folder);
  DeletionJournal journal(folder, state, expired_checkpoints);
  PendingStateFile pending_state(folder, state, state_of(path, checkpoints));
  const bool existed = checkpoint_exists(path);
  try {
    write(session, path, with_graph, names);
    pending_state.commit();
  } catch (...) {
    if (!existed) try_delete(path, names);
    throw;
  }
  checkpoints_ = checkpoints;
  next_permanent_save_ = next_permanent_save;
  for (const std::string& checkpoint : expired_checkpoints) {
    if (!try_delete(checkpoint, names)) journal.retain_file();
  }
  return path;
}

void Saver::write(Session& session,
                  const std::string& path,
                  bool with_graph,
                  const SaveNames& names) {
  write_bundle(path, all_saveables(), session.resources());
  if (with_graph) {
    write_if_changed(path + "." + names.meta_suffix, GraphExport::of(session.graph()).meta_graph());
  }
}

// Deletes a checkpoint. A file that cannot be deleted only wastes disk space, so this only warns.
bool Saver::try_delete(const std::string& path, const SaveNames& names) {
  try {
    delete_checkpoint(path, names.meta_suffix);
    return true;
  } catch (const Error& error) {
    warn("checkpoint", str_cat("Cannot delete an old checkpoint: ", error.message()));
    return false;
  }
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
  restore_saveables(filter_model_state(saveables_), BundleSource(path), session.resources());
}

void Saver::recover_last_checkpoints(const std::string& folder,
                                     const std::vector<std::string>& paths) {
  checkpoints_.clear();
  for (const std::string& path : paths) {
    if (!checkpoint_exists(path)) continue;
    if (is_same_path(parent_folder(path), folder)) {
      checkpoints_.emplace_back(path, modification_time(path + ".index"));
    } else {
      warn("checkpoint", str_cat("The state file of ", folder, " lists the checkpoint ", path,
                                 " in another folder. It will not be deleted."));
    }
  }
}

std::vector<std::string> Saver::last_checkpoints() const {
  std::vector<std::string> paths;
  for (const auto& checkpoint : checkpoints_) paths.push_back(checkpoint.first);
  return paths;
}

// Returns the list of checkpoints after adding `path` as the newest and dropping the oldest.
Saver::Checkpoints Saver::checkpoints_with(const std::string& path) const {
  Checkpoints checkpoints = checkpoints_;
  if (options_.max_to_keep <= 0) return checkpoints;
  checkpoints.erase(
      std::remove_if(checkpoints.begin(), checkpoints.end(),
                     [&path](const auto& checkpoint) { return checkpoint.first == path; }),
      checkpoints.end());
  checkpoints.emplace_back(path, now_seconds());
  const auto max_to_keep = static_cast<size_t>(options_.max_to_keep);
  if (checkpoints.size() > max_to_keep)
    checkpoints.erase(checkpoints.begin(), checkpoints.end() - static_cast<long>(max_to_keep));
  return checkpoints;
}

// Returns the checkpoints to delete: those that are not in `remaining`, except one for each period
// of keep_checkpoint_every_n_hours, which is kept forever.
std::vector<std::string> Saver::expired(const Checkpoints& remaining,
                                        double* next_permanent_save) const {
  std::vector<std::string> expired_checkpoints;
  for (const auto& checkpoint : checkpoints_) {
    const bool remains =
        std::any_of(remaining.begin(), remaining.end(),
                    [&checkpoint](const auto& other) { return other.first == checkpoint.first; });
    if (remains) continue;
    if (checkpoint.second > *next_permanent_save) {
      *next_permanent_save += options_.keep_checkpoint_every_n_hours * 3600;
    } else {
      expired_checkpoints.push_back(checkpoint.first);
    }
  }
  return expired_checkpoints;
}

CheckpointState Saver::state_of(const std::string& path, const Checkpoints& checkpoints) const {
  std::vector<std::string> paths;
  for (const auto& checkpoint : checkpoints) paths.push_back(checkpoint.first);
  return make_checkpoint_state(parent_folder(path), path, paths, options_.save_relative_paths);
}

}  // namespace runhooks
