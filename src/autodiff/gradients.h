// gradients(): symbolic derivatives of tensors (tf.gradients).
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/indexed_slices.h"

namespace runhooks {

// d sum(ys) / d x for each x; "none" if ys do not depend on it. Adds ops to `graph`, under name
// scope `name`: the graph of ys, or a function that computes the gradient of a function
// (FuncGraph). xs may also be in graphs that enclose that of ys. A non-empty `grad_ys` weights the
// elements of each y. Gradients stop at `stop_gradients`. A resource variable is passed by its
// handle. Throws if an op on the path has no gradient.
std::vector<Gradient> gradients(Graph& graph,
                                const std::vector<Output>& ys,
                                const std::vector<Output>& xs,
                                const std::vector<Output>& grad_ys = {},
                                const std::vector<Output>& stop_gradients = {},
                                const std::string& name = "gradients");

}  // namespace runhooks
