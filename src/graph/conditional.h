// Add_if(), an operation that calls one of two functions.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// Gives both functions the same arguments; the If has all that they captured and waits for what
// they wait for. Their results have the same types.
Operation* add_if(Graph& graph,
                  const Output& pred,
                  const std::shared_ptr<FuncGraph>& then_branch,
                  const std::shared_ptr<FuncGraph>& else_branch,
                  const std::string& name = "If");

// Whether what it does depends on more than its arguments, or changes more than its results.
bool is_stateful_function(const FuncGraph& function);
// All operations that the callers of these functions have to wait for.
std::vector<Operation*> waits_of(const std::vector<FuncGraph*>& functions);

}  // namespace runhooks
