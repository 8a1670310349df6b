// What lives here: what a loop and the loop that computes its gradient have in common.
// Who may use it: control.
// What it must not know: plans, R.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "graph/func_graph.h"

namespace runhooks {

// Whether an iteration hands on argument i as it is.
bool stays(const FuncGraph& body, size_t i);

// Adds a While: `initial` are the first values of the functions' own arguments, the first of which
// counts iterations; the body has results for these. `next` gives an iteration's results for what
// the functions captured; without it that stays.
Operation* add_loop(Graph& graph,
                    const std::vector<Output>& initial,
                    const std::shared_ptr<FuncGraph>& cond,
                    const std::shared_ptr<FuncGraph>& body,
                    const std::function<Output(const Output&)>& next,
                    int64_t parallel_iterations);

std::vector<Gradient> while_gradient(Graph& into, Operation& op, const std::vector<Output>& dy);

}  // namespace runhooks
