// What lives here: the clipping of tensors and gradients by their norms (tf.clip_by_norm and its like).
// Who may use it: estimators, the bindings.
// What it must not know: optimizers, R.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// t where its norm is at most clip_norm, else scaled to that norm; norms are taken along `axes`
// (all where there are none).
Output clip_by_norm(Graph& graph,
                    Output t,
                    Output clip_norm,
                    const std::vector<int64_t>& axes = {});
// The same for the norm divided by the number of elements.
Output clip_by_average_norm(Graph& graph, Output t, Output clip_norm);

// The norm of all gradients as one vector; of rows of a tensor it is that of the rows' values.
Output global_norm(Graph& graph, const std::vector<Gradient>& gradients);
// All scaled alike so that their norm is at most clip_norm; NaN where the norm is not finite.
// `use_norm` may be missing: then it is computed.
struct ClippedGradients {
  std::vector<Gradient> gradients;
  Output norm;
};
ClippedGradients clip_by_global_norm(Graph& graph,
                                     const std::vector<Gradient>& gradients,
                                     Output clip_norm,
                                     Output use_norm = Output());

}  // namespace runhooks
