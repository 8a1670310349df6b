// What updates of our own share when they are written in TensorFlow's ops.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// An Apply<name> or ResourceApply<name>, whose inputs are variables, then scalars and the gradient.
class LoweredUpdate {
 public:
  LoweredUpdate(Graph& graph, const Operation& op, const std::vector<Output>& inputs);

  Graph& graph() const { return graph_; }
  // The value before the update, of a variable or of another input.
  Output value(int i) const { return values_[static_cast<size_t>(i)]; }
  Output number(double x) const;
  // variable += (target - variable) * (1 - beta), a running mean; its new value.
  Output move_mean(int variable, Output target, Output beta);
  // The same for a target that is zero but for some rows.
  Output move_mean_rows(int variable, Output rows, Output indices, Output beta);
  // Rows at their places in a tensor of the variable's shape that is zero elsewhere.
  Output spread(int variable, Output rows, Output indices) const;
  // TRUE where such rows are.
  Output is_in_rows(int variable, Output rows, Output indices) const;
  void set(int variable, Output value);
  // Sets the first variable, after all others: the result.
  void finish(Output value);

 private:
  Operation* assign(int variable, Output value, const std::string& name) const;
  Graph& graph_;
  const Operation& op_;
  bool is_resource_;
  std::vector<Output> inputs_, values_;
  std::vector<Operation*> assigned_;
};

}  // namespace runhooks
