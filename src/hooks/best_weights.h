// What lives here: BestWeights, the checkpoint of a model as it was at the step of its best evaluation.
// Who may use it: hooks that stop early.
// What it must not know: which evaluation is the best, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/saveable.h"
#include "session/session.h"

namespace runhooks {

// One checkpoint in the folder `best` of the model's, with a state file as the model's has it.
class BestWeights {
 public:
  explicit BestWeights(std::string model_dir);

  // For a graph. What is named in `left_out` is never restored.
  void begin(const Graph& graph, const std::vector<VariablePtr>& left_out);
  // Keeps the model of `step`: the session's where it is there now, else one that has been kept
  // before, or a checkpoint. A step that can no longer be had changes nothing.
  void keep(Session& session, int64_t step_now, int64_t step);
  // Gives the model of `step` back to the session. FALSE where they were not kept.
  bool restore(Session& session, int64_t step) const;
  const std::string& folder() const { return folder_; }

 private:
  std::string path_of(int64_t step) const;
  void copy_checkpoint(const std::string& path, int64_t step);
  void forget_others(int64_t step) const;

  std::string model_dir_, folder_;
  std::vector<SaveablePtr> saveables_;
  int64_t kept_step_ = -1;
};

}  // namespace runhooks
