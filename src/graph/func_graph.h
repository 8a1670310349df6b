// FuncGraph: the graph of a function that an operation calls, such as a branch of tf.cond or a loop
// body.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace runhooks {

// The operations of a function may use tensors of enclosing graphs; each of these tensors becomes
// an argument. For a variable, table or iterator, the function copies the operation that holds it.
// The copy finds the session's resource by name. Names, variables and collections belong to the
// root graph.
class FuncGraph : public Graph {
 public:
  // Creates a function for the caller's graph, with all operations in the name scope `scope`
  // ("cond/").
  FuncGraph(Graph& outer, const std::string& scope, const std::string& name);

  Graph& outer() const { return outer_; }
  // Returns the function's name in files, which has only letters, digits and "_".
  const std::string& function_name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  const std::string& scope() const { return scope_; }

  // Arguments are in the order of the caller's inputs. `inside` is the argument in this graph. If
  // `outside` is valid, the caller passes this tensor. A handle is an argument without a value: the
  // function finds the resource by name.
  struct Argument {
    Output inside, outside;
    bool is_handle() const {
      return inside.op->inputs().empty() && outside && is_resource_handle(outside);
    }
  };
  const std::vector<Argument>& arguments() const { return arguments_; }
  Output argument(size_t i) const { return arguments_[i].inside; }
  Output add_argument(DType dtype, const Shape& shape, const std::string& name = "arg");
  // Returns the argument that stands for `outside`, a tensor of an enclosing graph; adds it on
  // first use.
  Output capture(const Output& outside) override;
  void add_outer_control_input(Operation* outside) override;
  // Operations of the caller's graph that must run before the caller.
  const std::vector<Operation*>& outer_control_inputs() const { return outer_control_inputs_; }

  // The results of the function; all are tensors of this graph.
  std::vector<Output> results;

  // Declares that this function computes the gradient of `forward`. `capture_forward` maps a tensor
  // of `forward` to a tensor in this graph or an enclosing one.
  void set_forward_graph(const Graph& forward, std::function<Output(const Output&)> capture_forward) {
    forward_ = &forward;
    capture_forward_ = std::move(capture_forward);
  }

  // Gives the functions that one operation calls the same arguments: each function captures all
  // tensors that any of the functions has captured. The captured arguments begin at index `first`.
  static void unify_captures(const std::vector<FuncGraph*>& functions, size_t first);

  // Whether the tensor refers to a resource of the session.
  static bool is_resource_handle(const Output& x) {
    return x.is_ref() || x.dtype() == DType::kResource;
  }

 private:
  // Returns the tensor in this function for a tensor of another graph, which may be `forward_`.
  Output import_tensor(const Output& outside);
  // Like import_tensor(), for a tensor of outer(). Adds an argument, or copies a handle.
  Output add_capture(const Output& outside);

  Graph& outer_;
  std::string scope_, name_;
  std::vector<Argument> arguments_;
  std::map<std::pair<Operation*, int>, Output> captured_;
  std::vector<Operation*> outer_control_inputs_;
  const Graph* forward_ = nullptr;
  std::function<Output(const Output&)> capture_forward_;
};

// Returns the operations of the graph and of all functions in it.
std::vector<Operation*> all_operations(const Graph& graph);
std::vector<FunctionPtr> functions_of(const Operation& op);
// Whether the predicate holds for the operation, or for an operation in the functions that it
// calls, at any depth.
bool any_nested_operation(const Operation& op, const std::function<bool(const Operation&)>& predicate);
// Returns the names of the variables that the operation and its functions modify, possibly with
// repetitions.
std::vector<std::string> modified_variables(const Operation& op);
// Returns the operations that the results of a function depend on, in creation order.
std::vector<const Operation*> needed_operations(const FuncGraph& function);

}  // namespace runhooks
