// LoweredUpdate: helps to express an update without a TensorFlow op in other TensorFlow ops.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Translates an Apply* op, whose inputs are variables, then scalars and the gradient. Sparse ops
// have row indices after the gradient.
class LoweredUpdate {
 public:
  LoweredUpdate(Graph& graph, const Operation& op, const std::vector<Output>& inputs);

  Graph& graph() const { return graph_; }
  // The value of input i before the update.
  Output value(int i) const { return values_[static_cast<size_t>(i)]; }
  Output number(double x) const;
  // Updates a running mean: variable += (target - variable) * (1 - beta). Returns the new value.
  Output move_mean(int variable, Output target, Output beta);
  // The same for a sparse target, given as rows and indices.
  Output move_mean_rows(int variable, Output rows, Output indices, Output beta);
  // Scatters rows into a tensor of zeros with the variable's shape.
  Output scatter(int variable, Output rows, Output indices) const;
  // A mask of the variable's shape that is true in the indexed rows.
  Output is_in_rows(int variable, Output rows, Output indices) const;
  void set(int variable, Output value);
  // Assigns the first variable after all others; this op is the result of the update.
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
