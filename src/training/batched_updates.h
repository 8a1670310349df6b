// ScalarUpdateBatch, the updates of many variables of one number each, as one.
#pragma once

#include <optional>
#include <vector>

#include "graph/kernel.h"
#include "training/apply_inputs.h"

namespace runhooks {

// Whether both updates are of one number, by the same rates and the same attributes. The variables
// are the first `num_refs` inputs.
bool are_single_updates(const KernelContext& one,
                        const KernelContext& other,
                        int num_refs,
                        int gradient);

// Each number's update is its own: gathered, roots and divisions are done many at a time.
template <typename T>
class ScalarUpdateBatch : public KernelGroup {
 public:
  using Apply = void (*)(ApplyInputs<T>&);
  ScalarUpdateBatch(const std::vector<GroupMember>& members, int num_refs, int gradient, Apply apply);
  bool compute() override;

 private:
  bool find_variables();

  std::vector<KernelContext*> contexts_;
  const int num_refs_;
  const Apply apply_;
  std::vector<const T*> gradients_;
  std::vector<T*> variables_[ApplyInputs<T>::kMostVariables];
  // As it was found while no variable had moved since.
  std::optional<ApplyInputs<T>> first_;
  uint64_t moves_seen_ = 0;
};

}  // namespace runhooks
