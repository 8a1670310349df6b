// Helpers shared by a loop and its gradient loop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// Whether the body returns argument i unchanged.
bool stays(const FuncGraph& body, size_t i);

// Adds a While op. `initial` holds the initial values of the functions' own arguments, the first of
// which counts iterations; the body returns their next values. `next` returns the next values of
// captured tensors; without it they are invariant.
Operation* add_loop(Graph& graph,
                    const std::vector<Output>& initial,
                    const std::shared_ptr<FuncGraph>& cond,
                    const std::shared_ptr<FuncGraph>& body,
                    const std::function<Output(const Output&)>& next,
                    int64_t parallel_iterations);

std::vector<Gradient> while_gradient(Graph& into, Operation& op, const std::vector<Output>& dy);

}  // namespace runhooks
