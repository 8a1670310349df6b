// ScalarUpdateBatch: updates many one-element variables with one kernel call.
#pragma once

#include <optional>
#include <vector>

#include "graph/kernel.h"
#include "training/apply_inputs.h"

namespace runhooks {

// True if both operations update resource variables by one-element gradients, with equal attributes
// and the same hyperparameter tensors. In both, the first `num_variables` inputs are variables, and
// input `gradient_input` is the gradient.
bool can_batch_updates(const KernelContext& one,
                       const KernelContext& other,
                       int num_variables,
                       int gradient_input);

// The updates are independent. Their values are gathered in arrays, so that the rule computes roots
// and divisions with vector instructions.
template <typename T>
class ScalarUpdateBatch : public KernelGroup {
 public:
  using Apply = void (*)(ApplyInputs<T>&);
  ScalarUpdateBatch(const std::vector<GroupMember>& members,
                    int num_variables,
                    int gradient_input,
                    Apply apply);
  bool compute() override;

 private:
  bool collect_variables();

  std::vector<KernelContext*> contexts_;
  const int num_variables_;
  const Apply apply_;
  std::vector<const T*> gradients_;
  std::vector<T*> variables_[ApplyInputs<T>::kMaxVariables];
  // Inputs of the batch's first update. They are valid while `VariableState::relocation_count()`,
  // the number of buffers that variables have replaced, equals `relocations_seen_`.
  std::optional<ApplyInputs<T>> first_;
  uint64_t relocations_seen_ = 0;
};

}  // namespace runhooks
