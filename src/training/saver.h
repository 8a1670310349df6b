// Saver, which writes what a session has to save to checkpoints, reads it back and tidies up old ones.
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
  int64_t max_to_keep = 5;  // 0: all, but the state file lists the newest only
  double keep_checkpoint_every_n_hours = 10000;
  // In the state file: relative to its folder, or as given.
  bool save_relative_paths = false;
  std::string state_name = "checkpoint";  // of the state file
  bool pad_step_number = false;           // model.ckpt-00000042
};

// What one call of save() calls its files.
struct SaveNames {
  std::string state;  // "": that of the options
  std::string meta_suffix = "meta";
};

// What has been saved at this path.
std::unique_ptr<TensorSource> open_checkpoint(const std::string& path);

// Removes what a saver that was killed left in a folder: temporary files, and checkpoints that its
// state file did not list yet, or did not list any more. `basename`: what its checkpoints' names
// begin with.
void remove_leftovers(const std::string& folder,
                      const std::string& basename,
                      const std::string& state_name);

// Writes the values of these as one checkpoint, without a graph and a state file.
void write_bundle(const std::string& prefix,
                  const std::vector<SaveablePtr>& saveables,
                  ResourceManager& resources);

// tf.train.Saver of all global variables of a graph, its saveable objects and those of a loop.
class Saver {
 public:
  explicit Saver(SaverOptions options = {});

  // What it saves: what the graph has now. Called once, before the graph is finalized.
  void build(const Graph& graph);
  // The same for these alone.
  void build(std::vector<SaveablePtr> saveables);
  bool is_built() const { return built_; }

  // Writes "<prefix>-<global_step>" (a negative step: "<prefix>") with its graph (".meta"), then
  // the state file `checkpoint` beside it, then deletes what is too old. Returns the path of the
  // checkpoint. A process that is killed at any moment leaves the old state or the new one, and a
  // note of what else it left for remove_leftovers(). A checkpoint of this name that holds the same
  // is not written again.
  std::string save(Session& session,
                   const std::string& prefix,
                   int64_t global_step,
                   bool with_graph = true,
                   bool with_state = true,
                   const SaveNames& names = {});

  // What a loop has to save beside what the graph has, as long as it runs: the states of its hooks.
  void attach(std::vector<SaveablePtr> saveables) { attached_ = std::move(saveables); }
  void detach() { attached_.clear(); }

  // Gives everything its value. All are read and checked before the first is changed: a missing
  // variable or one of another shape or type is an error that names it.
  void restore(Session& session, const std::string& path);
  // The same for the model alone, without where a run stands.
  void restore_model(Session& session, const std::string& path) const;

  // Takes over the checkpoints that the state file of `folder` lists, so that they are deleted in
  // their turn. Those outside of the folder are somebody else's: they are left alone.
  void recover_last_checkpoints(const std::string& folder, const std::vector<std::string>& paths);
  std::vector<std::string> last_checkpoints() const;
  // The same list from elsewhere: paths with the times of writing.
  void set_last_checkpoints(std::vector<std::pair<std::string, double>> last) {
    last_ = std::move(last);
  }
  const SaverOptions& options() const { return options_; }

 private:
  using Checkpoints = std::vector<std::pair<std::string, double>>;  // times of writing, oldest first

  std::vector<SaveablePtr> all_saveables() const;
  void write(Session& session, const std::string& path, bool with_graph, const SaveNames& names);
  Checkpoints last_with(const std::string& path) const;
  std::vector<std::string> expired(const Checkpoints& now, double* next_kept_time) const;
  CheckpointState state_of(const std::string& path, const Checkpoints& last) const;
  // FALSE where some of it stays.
  static bool forget(const std::string& path, const SaveNames& names);

  SaverOptions options_;
  bool built_ = false;
  std::vector<SaveablePtr> saveables_, attached_;
  std::string tidied_;  // where it has removed what others left
  Checkpoints last_;
  double next_kept_time_;
};

}  // namespace runhooks
