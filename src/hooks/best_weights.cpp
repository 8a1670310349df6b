#include "hooks/best_weights.h"

#include <algorithm>

#include "io/atomic_file.h"
#include "io/checkpoint_state.h"

namespace runhooks {

void BestWeights::begin(const Graph& graph, const std::vector<VariablePtr>& left_out) {
  variables_.clear();
  values_.clear();
  kept_step_ = -1;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kGlobalVariables)) {
    const bool stays = std::find(left_out.begin(), left_out.end(), variable) != left_out.end();
    if (!stays) variables_.push_back(variable);
  }
}

void BestWeights::keep(const Session& session, int64_t step_now, int64_t step) {
  if (step == kept_step_) return;
  std::vector<Tensor> values;
  if (step == step_now) {
    for (const VariablePtr& variable : variables_) {
      values.push_back(session.value(*variable).copy());
    }
  } else {
    const std::string path = join_path(model_dir_, str_cat("model.ckpt-", step));
    if (!checkpoint_exists(path)) return;
    values = read_variables(path, variables_);
  }
  values_ = std::move(values);
  kept_step_ = step;
}

bool BestWeights::restore(Session& session, int64_t step) const {
  if (step != kept_step_) return false;
  for (size_t i = 0; i < variables_.size(); ++i) session.assign(*variables_[i], values_[i]);
  return true;
}

}  // namespace runhooks
