// What lives here: gradients(), the symbolic derivative of tensors with respect to others (tf.gradients).
// Who may use it: control, training, the bindings.
// What it must not know: particular ops (each brings its gradient by registry), sessions, R.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "graph/indexed_slices.h"

namespace runhooks {

// d sum(ys) / d x for each x, "none" where ys do not depend on it. What computes it is added to
// `graph`: that of ys, or a function that computes the gradient of a function (FuncGraph); xs may be
// in the graphs around that of ys, too. `grad_ys`, if not empty, weights
// the elements of each y; no gradient flows through `stop_gradients`. A resource variable is asked
// for by its handle. Operations are added under the name scope `name`. Throws where an op on the
// way has no gradient.
std::vector<Gradient> gradients(Graph& graph,
                                const std::vector<Output>& ys,
                                const std::vector<Output>& xs,
                                const std::vector<Output>& grad_ys = {},
                                const std::vector<Output>& stop_gradients = {},
                                const std::string& name = "gradients");

}  // namespace runhooks
