// ScalarUpdateBatch: updates many one-element variables with one kernel call.
#pragma once

#include <optional>
#include <vector>

#include "graph/kernel.h"
#include "training/apply_inputs.h"

namespace runhooks {

// True if both are updates of resource variables by one-element gradients, with the same attributes
// and hyperparameter tensors. The first `num_refs` inputs are variables, input `gradient` the
// gradient.
bool can_batch_updates(const KernelContext& one,
                       const KernelContext& other,
                       int num_refs,
                       int gradient);

// The updates are independent, so gathering them lets the rule vectorize roots and divisions.
template <typename T>
class ScalarUpdateBatch : public KernelGroup {
 public:
  using Apply = void (*)(ApplyInputs<T>&);
  ScalarUpdateBatch(const std::vector<GroupMember>& members,
                    int num_refs,
                    int gradient,
                    Apply apply);
  bool compute() override;

 private:
  bool find_variables();

  std::vector<KernelContext*> contexts_;
  const int num_refs_;
  const Apply apply_;
  std::vector<const T*> gradients_;
  std::vector<T*> variables_[ApplyInputs<T>::kMaxVariables];
  // Inputs of the first update, valid while `VariableState::relocation_count()` equals
  // `relocations_seen_`.
  std::optional<ApplyInputs<T>> first_;
  uint64_t relocations_seen_ = 0;
};

}  // namespace runhooks
