// BestWeights: saves the model of the best evaluation as a checkpoint and restores it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/saveable.h"
#include "session/session.h"

namespace runhooks {

// Holds one checkpoint, with a state file, in the directory `best` below the model's.
class BestWeights {
 public:
  explicit BestWeights(std::string model_dir);

  void begin(const Graph& graph, const std::vector<VariablePtr>& left_out);
  // Saves the model of `step`: from the session if that is its step, else by copying an earlier
  // checkpoint. Does nothing if that checkpoint no longer exists.
  void save(Session& session, int64_t step_now, int64_t step);
  bool restore(Session& session, int64_t step) const;
  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(int64_t step) const;
  void copy_checkpoint(const std::string& path, int64_t step);
  void remove_others(int64_t step) const;

  std::string model_dir_, folder_;
  std::vector<SaveablePtr> saveables_;
  int64_t saved_step_ = -1;
};

}  // namespace runhooks
