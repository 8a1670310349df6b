// Helpers shared by If and While: running a function, and building its gradient.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/conditional.h"
#include "session/executor.h"

namespace runhooks {

// A function instance in a session, with its own plan and buffers.
class FunctionRunner {
 public:
  // `stays[i]`: argument i needs no copy, because nothing modifies it while the function runs.
  FunctionRunner(const FuncGraph& function,
                 const std::vector<Output>& fetches,
                 const std::vector<bool>& stays,
                 ResourceManager& resources);
  // Takes one tensor per argument.
  void run(const std::vector<const Tensor*>& arguments);
  // Valid until the next run.
  const Tensor& result(size_t i) const { return executor_->result(i); }

 private:
  std::vector<size_t> fed_;  // the arguments that the fetches need
  std::vector<bool> shared_;
  std::vector<const Tensor*> values_;
  std::unique_ptr<Executor> executor_;
};

// Stores the caller's output i; reuses its buffer if the shape is unchanged.
void set_output_value(KernelContext& c, int i, const Tensor& value);

FuncGraph& function_attr(const Operation& op, const char* name);
bool changes_variables(const FuncGraph& function);
// Results of a builder as tensors of the function, capturing outer ones.
std::vector<Output> own_results(FuncGraph& function, const std::vector<Output>& results);

// Floating-point tensors, tensor lists, and variables (by handle).
bool may_have_gradient(const FuncGraph::Argument& argument);
DType gradient_dtype(const FuncGraph::Argument& argument);
Shape gradient_shape(const FuncGraph::Argument& argument);
// Zeros shaped like the argument, whose value is `like`; `graph` must be able to access `like`.
Output zeros_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like);
// The shape of the argument, whose value is `like`; `graph` must be able to access `like`.
Output shape_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like);
Output empty_list(Graph& graph, DType dtype, const Shape& element_shape);
// The index of an argument; -1 if the tensor is not one.
int argument_index(const FuncGraph& function, const Output& inside);

}  // namespace runhooks
