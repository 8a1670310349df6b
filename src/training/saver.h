// What lives here: Saver, which writes a session's variables to checkpoints, reads them back and tidies up old ones.
// Who may use it: hooks, monitored, estimators, the bindings.
// What it must not know: when to save, R.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "session/run_hook.h"
#include "session/session.h"
#include "training/graph_export.h"

namespace runhooks {

struct SaverOptions {
  int64_t max_to_keep = 5;  // 0: all, but the state file lists the newest only
  double keep_checkpoint_every_n_hours = 10000;
  // In the state file: relative to its folder, or as given.
  bool save_relative_paths = false;
};

// The values of these variables in a checkpoint, under their own names or under `keys`; one that is
// missing there or has another shape or type is an error that names it.
std::vector<Tensor> read_variables(const std::string& path,
                                   const std::vector<VariablePtr>& variables,
                                   const std::vector<std::string>& keys = {});

// tf.train.Saver of all global variables of a graph.
class Saver {
 public:
  explicit Saver(SaverOptions options = {});

  // Which variables it saves: those that the graph has now. Called once, before the graph is
  // finalized.
  void build(const Graph& graph);
  bool is_built() const { return built_; }

  // Writes "<prefix>-<global_step>" (a negative step: "<prefix>") with its graph (".meta"), then the state file `checkpoint`
  // beside it, then deletes what is too old. Returns the path of the checkpoint. A process that is
  // killed at any moment leaves the old state or the new one.
  std::string save(Session& session,
                   const std::string& prefix,
                   int64_t global_step,
                   bool with_graph = true);
  // The same with the states of hooks as they were at the last save: for moments at which hooks
  // cannot be asked.
  std::string save_known(Session& session,
                         const std::string& prefix,
                         int64_t global_step,
                         bool with_graph = true);

  // Asked at each save for what checkpoints keep of hooks.
  void set_state_source(std::function<HookStates()> source) { state_source_ = std::move(source); }
  // Of the checkpoint that was restored last.
  const HookStates& hook_states() const { return hook_states_; }

  // The graph as the checkpoints have it.
  GraphExport& graph_export() { return graph_export_; }

  // Gives every variable its value. All are read and checked before the first is changed: a missing
  // variable or one of another shape or type is an error that names it.
  void restore(Session& session, const std::string& path);

  // Takes over the checkpoints that a state file lists, so that they are deleted in their turn.
  void recover_last_checkpoints(const std::vector<std::string>& paths);
  std::vector<std::string> last_checkpoints() const;

 private:
  void note_checkpoint(const std::string& path);
  void write_state(const std::string& path) const;
  void delete_old();

  SaverOptions options_;
  bool built_ = false;
  std::vector<VariablePtr> variables_;
  std::function<HookStates()> state_source_;
  HookStates hook_states_;
  GraphExport graph_export_;
  std::vector<std::pair<std::string, double>> last_;  // with the time of writing, oldest first
  std::vector<std::pair<std::string, double>> to_delete_;
  double next_kept_time_;
};

}  // namespace runhooks
