// Helpers shared by If and While: running a function, and building its gradient.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/conditional.h"
#include "session/executor.h"

namespace runhooks {

// Runs a function in a session. Each runner has its own plan and buffers.
class FunctionRunner {
 public:
  // `is_shared[i]`: argument i is not copied, because nothing modifies it while the function runs.
  FunctionRunner(const FuncGraph& function,
                 const std::vector<Output>& fetches,
                 const std::vector<bool>& is_shared,
                 ResourceManager& resources);
  // Takes one tensor per argument.
  void run(const std::vector<const Tensor*>& arguments);
  // Valid until the next run.
  const Tensor& result(size_t i) const { return executor_->result(i); }

 private:
  std::vector<size_t> fed_arguments_;  // the arguments that the fetches need
  std::vector<bool> is_shared_;
  std::vector<const Tensor*> values_;
  std::unique_ptr<Executor> executor_;
};

// Sets output i of the calling op; reuses its buffer if the shape is unchanged.
void set_output_value(KernelContext& c, int i, const Tensor& value);

FuncGraph& function_attr(const Operation& op, const char* name);
bool changes_variables(const FuncGraph& function);
// Returns the results as tensors of the function's graph. Captures those of outer graphs.
std::vector<Output> capture_results(FuncGraph& function, const std::vector<Output>& results);

// TRUE for floating-point tensors, tensor lists and handles of variables.
bool may_have_gradient(const FuncGraph::Argument& argument);
// Type and shape of the argument's gradient. If the argument is a handle, those of the variable.
DType gradient_dtype(const FuncGraph::Argument& argument);
Shape gradient_shape(const FuncGraph::Argument& argument);
// Returns zeros with the shape of the argument, or of the variable if the argument is a handle.
// `like` is the value of the argument; `graph` must be able to access it.
Output zeros_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like);
// Returns the shape of the argument, or of the variable if the argument is a handle, as a tensor.
// `like` is the value of the argument; `graph` must be able to access it.
Output shape_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like);
// Adds an op that returns an empty tensor list.
Output empty_list(Graph& graph, DType dtype, const Shape& element_shape);
// Returns the index of the argument that `tensor` is; -1 if it is not an argument of the function.
int argument_index(const FuncGraph& function, const Output& tensor);

}  // namespace runhooks
