// gradients(): symbolic derivatives of tensors (tf.gradients).
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/indexed_slices.h"

namespace runhooks {

// Returns d sum(ys) / d x for each x; "none" if no y depends on x. Adds operations to `graph`, in
// the name scope `name`. `graph` is the graph of ys, or a function that computes the gradient of
// that graph (FuncGraph). xs may also be in graphs that enclose the graph of ys. `grad_ys`, if not
// empty, replaces the initial gradients of ys, which are ones. The tensors in `stop_gradients`
// count as constants. For a resource variable, x is its handle. Throws if an op between x and y has
// no gradient.
std::vector<Gradient> gradients(Graph& graph,
                                const std::vector<Output>& ys,
                                const std::vector<Output>& xs,
                                const std::vector<Output>& grad_ys = {},
                                const std::vector<Output>& stop_gradients = {},
                                const std::string& name = "gradients");

}  // namespace runhooks
