// Helpers shared by a loop and its gradient loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// TRUE if the body returns argument i unchanged.
bool is_loop_invariant(const FuncGraph& body, size_t i);

// Adds a While op. `initial` contains the initial values of the arguments that the functions
// declare; the first argument counts iterations. The body returns their next values. Captured
// tensors become further arguments: next() returns their next values; without `next` they are
// invariant.
Operation* add_loop(Graph& graph,
                    const std::vector<Output>& initial,
                    const std::shared_ptr<FuncGraph>& cond,
                    const std::shared_ptr<FuncGraph>& body,
                    const std::function<Output(const Output&)>& next,
                    int64_t parallel_iterations);

std::vector<Gradient> while_gradient(Graph& graph, Operation& op, const std::vector<Output>& dy);

}  // namespace runhooks
