// Add_if(), which adds an operation that calls one of two functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// Gives both functions the same arguments. The If operation has the captured tensors of both as
// inputs and their control dependencies. The results of both must have the same types.
Operation* add_if(Graph& graph,
                  const Output& pred,
                  const std::shared_ptr<FuncGraph>& then_branch,
                  const std::shared_ptr<FuncGraph>& else_branch,
                  const std::string& name = "If");

// Whether the function reads or changes state other than its arguments and results.
bool is_stateful_function(const FuncGraph& function);
// All operations that must run before the callers of these functions.
std::vector<Operation*> waits_of(const std::vector<FuncGraph*>& functions);

}  // namespace runhooks
