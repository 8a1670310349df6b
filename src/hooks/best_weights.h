// What lives here: BestWeights, the variables of a model as they were at the step of its best evaluation.
// Who may use it: hooks that stop early.
// What it must not know: which evaluation is the best, R.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/variable.h"
#include "training/saver.h"

namespace runhooks {

class BestWeights {
 public:
  // Checkpoints of earlier steps are looked for in this folder.
  explicit BestWeights(std::string model_dir) : model_dir_(std::move(model_dir)) {}

  // For a graph; forgets what was kept. What is named in `left_out` is never restored.
  void begin(const Graph& graph, const std::vector<VariablePtr>& left_out);
  // Keeps the variables of `step`: the session's where it is there now, else those of a checkpoint.
  // A step that is kept already, or can no longer be had, changes nothing.
  void keep(const Session& session, int64_t step_now, int64_t step);
  // Gives the variables of `step` back to the session. FALSE where they were not kept.
  bool restore(Session& session, int64_t step) const;

 private:
  std::string model_dir_;
  std::vector<VariablePtr> variables_;
  int64_t kept_step_ = -1;
  std::vector<Tensor> values_;
};

}  // namespace runhooks
