// Clipping of tensors and gradients by norm (tf.clip_by_norm and similar).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Scales t so that its norm is at most `clip_norm`. Norms are computed along `axes`, or over all
// elements if `axes` is empty.
Output clip_by_norm(Graph& graph,
                    Output t,
                    Output clip_norm,
                    const std::vector<int64_t>& axes = {});
// Scales t so that its norm divided by its number of elements is at most `clip_norm`.
Output clip_by_average_norm(Graph& graph, Output t, Output clip_norm);

// Returns the norm of all elements of all gradients. Rows that occur several times in a sparse
// gradient are not summed first.
Output global_norm(Graph& graph, const std::vector<Gradient>& gradients);
// The result of clip_by_global_norm(), which scales all gradients by one factor so that their
// global norm is at most `clip_norm`. They become NaN if the norm is not finite. `use_norm` is the
// global norm, which is computed if absent.
struct ClippedGradients {
  std::vector<Gradient> gradients;
  Output norm;
};
ClippedGradients clip_by_global_norm(Graph& graph,
                                     const std::vector<Gradient>& gradients,
                                     Output clip_norm,
                                     Output use_norm = Output());

}  // namespace runhooks
