// add_if(): adds an If operation, which calls one of two functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// Both functions get the same arguments: all tensors of enclosing graphs that at least one of them
// uses. The operation runs after the control inputs of both. The results of both functions must
// have the same types.
Operation* add_if(Graph& graph,
                  const Output& pred,
                  const std::shared_ptr<FuncGraph>& then_branch,
                  const std::shared_ptr<FuncGraph>& else_branch,
                  const std::string& name = "If");

// Whether a function has side effects or depends on more than its arguments.
bool is_stateful_function(const FuncGraph& function);
// Returns all operations of the enclosing graph that must run before the callers of these
// functions.
std::vector<Operation*> outer_control_inputs_of(const std::vector<FuncGraph*>& functions);

}  // namespace runhooks
