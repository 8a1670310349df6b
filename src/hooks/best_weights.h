// BestWeights: saves the model of the best evaluation as a checkpoint and restores it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/saveable.h"
#include "session/session.h"

namespace runhooks {

// Stores one checkpoint and its state file in the folder `best` of the model directory.
class BestWeights {
 public:
  explicit BestWeights(std::string model_dir);

  // Prepares for a training loop; no model is saved yet. restore() will not restore `excluded`.
  void begin(const Graph& graph, const std::vector<VariablePtr>& excluded);
  // Saves the model of `step`: from the session if `step_now`, its current step, equals `step`;
  // else by copying the checkpoint of that step from the model directory. Does nothing if that
  // checkpoint does not exist.
  void save(Session& session, int64_t step_now, int64_t step);
  // Restores the model of `step`; returns false if it was not saved.
  bool restore(Session& session, int64_t step) const;
  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(int64_t step) const;
  void copy_checkpoint(const std::string& path, int64_t step);
  void remove_other_checkpoints(int64_t step) const;

  std::string model_dir_, folder_;
  std::vector<SaveablePtr> saveables_;
  int64_t saved_step_ = -1;
};

}  // namespace runhooks
