// What lives here: what If and While share: running a function, and what their gradients are made of.
// Who may use it: control.
// What it must not know: plans, R.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/conditional.h"
#include "session/executor.h"

namespace runhooks {

// A function at work in a session, with a plan and buffers of its own.
class FunctionRunner {
 public:
  // `stays[i]`: argument i needs no copy, since nobody changes it while the function runs.
  FunctionRunner(const FuncGraph& function,
                 const std::vector<Output>& fetches,
                 const std::vector<bool>& stays,
                 ResourceManager& resources);
  // One for each argument.
  void run(const std::vector<const Tensor*>& arguments);
  // Good until the next run.
  const Tensor& result(size_t i) const { return executor_->result(i); }

 private:
  std::vector<size_t> fed_;  // the arguments that the fetches need
  std::vector<bool> shared_;
  std::vector<const Tensor*> values_;
  std::unique_ptr<Executor> executor_;
};

// A value for output i of the caller, which keeps its buffer as long as the shape is the same.
void give_output(KernelContext& c, int i, const Tensor& value);

FuncGraph& function_attr(const Operation& op, const char* name);
bool changes_variables(const FuncGraph& function);
// What a builder gave as results: tensors of the function.
std::vector<Output> own_results(FuncGraph& function, const std::vector<Output>& results);

// What may have a gradient: numbers, lists of them, and variables, which are asked for by handle.
bool may_have_gradient(const FuncGraph::Argument& argument);
DType gradient_dtype(const FuncGraph::Argument& argument);
Shape gradient_shape(const FuncGraph::Argument& argument);
// In a graph that can see `like`: zeros of the shape of this argument, whose value is `like`.
Output zeros_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like);
// In a graph that can see `like`, the value of this argument: its shape.
Output shape_for(Graph& graph, const FuncGraph::Argument& argument, const Output& like);
// A list without elements.
Output empty_list(Graph& graph, DType dtype, const Shape& element_shape);
// The place of an argument; -1 where it is none.
int argument_index(const FuncGraph& function, const Output& inside);

}  // namespace runhooks
