// Saver: writes and restores checkpoints of a session and deletes old ones.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/saveable.h"
#include "io/checkpoint/checkpoint_state.h"
#include "session/session.h"

namespace runhooks {

struct SaverOptions {
  int64_t max_to_keep = 5;  // 0 keeps all, but the state file lists only the newest
  double keep_checkpoint_every_n_hours = 10000;
  // Write paths in the state file relative to its directory.
  bool save_relative_paths = false;
  std::string state_name = "checkpoint";
  bool pad_step_number = false;  // names such as model.ckpt-00000042
};

// File names for one call of save().
struct SaveNames {
  std::string state;  // "" uses SaverOptions::state_name
  std::string meta_suffix = "meta";
};

// Opens the checkpoint with this prefix for reading.
std::unique_ptr<TensorSource> open_checkpoint(const std::string& path);

// Removes the leftovers of killed savers: temporary files, incomplete new checkpoints and old
// checkpoints that the state file no longer lists. `basename` is the prefix of checkpoint names.
void remove_leftovers(const std::string& folder,
                      const std::string& basename,
                      const std::string& state_name);

// Writes `saveables` as one checkpoint, without a graph or state file.
void write_bundle(const std::string& prefix,
                  const std::vector<SaveablePtr>& saveables,
                  ResourceManager& resources);

// tf.train.Saver. Saves the global variables and saveable objects of a graph, and objects attached
// by a training loop.
class Saver {
 public:
  explicit Saver(SaverOptions options = {});

  // Selects the current variables and objects of the graph. Call once, before the graph is
  // finalized.
  void build(const Graph& graph);
  void build(std::vector<SaveablePtr> saveables);
  bool is_built() const { return is_built_; }

  // Writes "<prefix>-<global_step>" (or "<prefix>" if the step is negative) and its ".meta" file.
  // Then writes the state file, deletes expired checkpoints, and returns the path of the
  // checkpoint. If the process is killed, the state file is the old or the new one, and temporary
  // files tell remove_leftovers() which checkpoints to delete.
  std::string save(Session& session,
                   const std::string& prefix,
                   int64_t global_step,
                   bool with_graph = true,
                   bool with_state = true,
                   const SaveNames& names = {});

  // Adds objects of a training loop to checkpoints, such as the states of hooks, until detach().
  void attach(std::vector<SaveablePtr> saveables) { attached_ = std::move(saveables); }
  void detach() { attached_.clear(); }

  // Restores all values. Throws if a variable is missing or has another shape or type; the session
  // is then unchanged.
  void restore(Session& session, const std::string& path);
  // Restores only the model, without the state of a run such as data positions.
  void restore_model(Session& session, const std::string& path) const;

  // Adds checkpoints that an earlier process wrote in `folder`, so that they are deleted when they
  // expire. Checkpoints in other directories are never deleted.
  void recover_last_checkpoints(const std::string& folder, const std::vector<std::string>& paths);
  std::vector<std::string> last_checkpoints() const;
  // Sets the list of checkpoints, as paths with modification times.
  void set_last_checkpoints(std::vector<std::pair<std::string, double>> checkpoints) {
    checkpoints_ = std::move(checkpoints);
  }
  const SaverOptions& options() const { return options_; }

 private:
  using Checkpoints = std::vector<std::pair<std::string, double>>;  // paths and times, oldest first

  std::vector<SaveablePtr> all_saveables() const;
  void write(Session& session, const std::string& path, bool with_graph, const SaveNames& names);
  Checkpoints checkpoints_with(const std::string& path) const;
  std::vector<std::string> expired(const Checkpoints& remaining, double* next_permanent_save) const;
  CheckpointState state_of(const std::string& path, const Checkpoints& checkpoints) const;
  // Returns false if files could not be deleted.
  static bool try_delete(const std::string& path, const SaveNames& names);

  SaverOptions options_;
  bool is_built_ = false;
  std::vector<SaveablePtr> saveables_, attached_;
  std::string cleaned_prefix_;  // prefix and state name of the last call of remove_leftovers()
  Checkpoints checkpoints_;
  double next_permanent_save_;
};

}  // namespace runhooks
