// FuncGraph, the graph of a function that an operation calls, such as a branch of tf.cond.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// An operation may use tensors of enclosing graphs. The function captures each of them as an
// argument. For a variable, table or iterator, it copies the operation that holds the resource. The
// copy has the same name, so the session finds the same resource.
class FuncGraph : public Graph {
 public:
  // `outer` is the graph of the caller. All operations are in the name scope `scope` ("cond/").
  FuncGraph(Graph& outer, const std::string& scope, const std::string& name);

  Graph& outer() const { return outer_; }
  // The name in exported graphs, made of letters, digits and "_".
  const std::string& function_name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  const std::string& scope() const { return scope_; }

  // `inside` represents the argument in this graph. For a captured tensor, `outside` is the
  // corresponding input of the caller. A captured handle gets no value from the caller.
  struct Argument {
    Output inside, outside;
    bool is_handle() const { return inside.op->inputs().empty() && outside && is_thing(outside); }
  };
  const std::vector<Argument>& arguments() const { return arguments_; }
  Output argument(size_t i) const { return arguments_[i].inside; }
  Output add_argument(DType dtype, const Shape& shape, const std::string& name = "arg");
  Output capture(const Output& outside) override;
  void wait_outside(Operation* outside) override;
  // Operations of the outer graph that must run before the caller.
  const std::vector<Operation*>& waits_for() const { return waits_for_; }

  // Must belong to this graph.
  std::vector<Output> results;

  // Marks this function as the gradient of the function `forward`. Given a tensor of `forward`,
  // `keep` must return a tensor with its value in this graph or an enclosing one.
  void differentiates(const Graph& forward, std::function<Output(const Output&)> keep) {
    forward_ = &forward;
    keep_ = std::move(keep);
  }

  // Gives the functions of one operation the same arguments in the same order. Each function
  // captures the tensors that the others have captured. Captures begin at argument `first`.
  static void unify_captures(const std::vector<FuncGraph*>& functions, size_t first);

  // Whether the tensor refers to a resource of the session.
  static bool is_thing(const Output& x) { return x.is_ref() || x.dtype() == DType::kResource; }

 private:
  Output stand_in(const Output& outside);
  Output add_capture(const Output& outside);

  Graph& outer_;
  std::string scope_, name_;
  std::vector<Argument> arguments_;
  std::map<std::pair<Operation*, int>, Output> captured_;
  std::vector<Operation*> waits_for_;
  const Graph* forward_ = nullptr;
  std::function<Output(const Output&)> keep_;
};

// Includes the operations of all functions in the graph.
std::vector<Operation*> all_operations(const Graph& graph);
std::vector<FunctionPtr> functions_of(const Operation& op);
// Whether the operation, or a needed operation of a function that it calls, satisfies `is_so`.
bool any_inside(const Operation& op, const std::function<bool(const Operation&)>& is_so);
// The names of the variables that the operation or its functions change, possibly with duplicates.
std::vector<std::string> changed_variables(const Operation& op);
// The operations on which the results depend, in creation order.
std::vector<const Operation*> needed_operations(const FuncGraph& function);

}  // namespace runhooks
