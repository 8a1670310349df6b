// FuncGraph, a function that an operation calls (a branch of tf.cond, the body of a loop): a graph of its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Its operations may use tensors of the graphs around it: each gets a stand-in among the arguments.
// A variable, table or iterator is captured as a copy of the operation that holds it, which finds
// the session's thing under the same name. Names, variables and collections are those of the root.
class FuncGraph : public Graph {
 public:
  // For the caller's graph; operations are in the name scope `scope` ("cond/").
  FuncGraph(Graph& outer, const std::string& scope, const std::string& name);

  Graph& outer() const { return outer_; }
  // As files know it: letters, digits, "_".
  const std::string& function_name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  const std::string& scope() const { return scope_; }

  // In the order of the caller's inputs (those that are arguments). Where `outside` is there it is
  // what the caller is to be given; an argument that is a handle is not fed.
  struct Argument {
    Output inside, outside;
    bool is_handle() const { return inside.op->inputs().empty() && outside && is_thing(outside); }
  };
  const std::vector<Argument>& arguments() const { return arguments_; }
  Output argument(size_t i) const { return arguments_[i].inside; }
  Output add_argument(DType dtype, const Shape& shape, const std::string& name = "arg");
  // An argument for `outside`, of a graph around this one.
  Output capture(const Output& outside) override;
  void wait_outside(Operation* outside) override;
  // Operations of the caller's graph that have to run before it.
  const std::vector<Operation*>& waits_for() const { return waits_for_; }

  // The results; all of this graph.
  std::vector<Output> results;

  // It computes a gradient of `forward`, another function: `keep` gives, for a tensor of that, one
  // of this graph or of those around.
  void differentiates(const Graph& forward, std::function<Output(const Output&)> keep) {
    forward_ = &forward;
    keep_ = std::move(keep);
  }

  // Gives the functions of one operation the same arguments: each gets what the others have
  // captured. From argument `first` on all are captured.
  static void unify_captures(const std::vector<FuncGraph*>& functions, size_t first);

  // What refers to something that a session keeps.
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

// Those of the graph and of all functions in it.
std::vector<Operation*> all_operations(const Graph& graph);
// The functions that an operation calls.
std::vector<FunctionPtr> functions_of(const Operation& op);
// Whether this is true of the operation or of one in the functions that it calls.
bool any_inside(const Operation& op, const std::function<bool(const Operation&)>& is_so);
// The names of the variables that the operation changes, and those in its functions; one may come
// more than once.
std::vector<std::string> changed_variables(const Operation& op);
// The operations of a function that its results need, in the order of their making.
std::vector<const Operation*> needed_operations(const FuncGraph& function);

}  // namespace runhooks
