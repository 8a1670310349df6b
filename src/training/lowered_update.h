// LoweredUpdate: translates an update that has no TensorFlow op to several TensorFlow ops.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The inputs of the Apply* op to translate are variables, then scalars and the gradient. Sparse ops
// have row indices after the gradient.
class LoweredUpdate {
 public:
  LoweredUpdate(Graph& graph, const Operation& op, const std::vector<Output>& inputs);

  Graph& graph() const { return graph_; }
  // Returns the value of input i before the update.
  Output value(int i) const { return values_[static_cast<size_t>(i)]; }
  Output scalar(double x) const;
  // Updates a running mean: variable += (target - variable) * (1 - beta). Returns the new value.
  Output update_mean(int variable, Output target, Output beta);
  // Like update_mean(), for a sparse target that is given as rows and their indices.
  Output update_mean_rows(int variable, Output rows, Output indices, Output beta);
  // Scatters rows into a tensor of zeros with the variable's shape.
  Output scatter(int variable, Output rows, Output indices) const;
  // Returns a mask with the variable's shape that is true in the indexed rows.
  Output row_mask(int variable, Output rows, Output indices) const;
  void set(int variable, Output value);
  // Assigns `value` to the first variable, after all other assignments. This operation is the
  // result of the update.
  void finish(Output value);

 private:
  Operation* assign(int variable, Output value, const std::string& name) const;
  Graph& graph_;
  const Operation& op_;
  bool is_resource_;
  std::vector<Output> inputs_, values_;
  std::vector<Operation*> assignments_;
};

}  // namespace runhooks
