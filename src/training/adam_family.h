// AdamFamily: base class of Adam and its variants, which have two slots per variable: the running
// means "m" of the gradient and "v" of its square.
#pragma once

#include <string>
#include <vector>

#include "training/optimizer.h"

namespace runhooks {

class AdamFamily : public Optimizer {
 protected:
  // Set `has_beta2_power` to false if the second moment needs no bias correction.
  AdamFamily(const std::string& name,
             const Args& args,
             double default_epsilon,
             bool has_beta2_power = true);

  // Creates the slots "m" and "v".
  void create_slots(Graph& graph, const VariablePtr& variable) override;
  // Creates the powers of the betas, which all trained variables share.
  void create_non_slot_variables(Graph& graph, const VariablePtr& first) override;
  std::vector<VariablePtr> non_slot_variables() const override;
  void prepare(Graph& graph) override;
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override;

  // Returns the first inputs of each update op after the variables, cast to the variable's type:
  // powers of the betas, learning rate, betas and epsilon.
  std::vector<Output> shared_inputs(Graph& graph, const Variable& variable) const;

 private:
  double default_epsilon_;
  bool has_beta2_power_;
  VariablePtr beta1_power_, beta2_power_;
  Output learning_rate_, beta1_, beta2_, epsilon_;
};

}  // namespace runhooks
