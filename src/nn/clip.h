// Clipping of tensors and gradients by norm (tf.clip_by_norm and similar).
#pragma once

#include <vector>

#include "graph/graph.h"

namespace runhooks {

// Scales t down to norm `clip_norm` if its norm is larger. Norms are computed along `axes`, or over
// all axes if empty.
Output clip_by_norm(Graph& graph,
                    Output t,
                    Output clip_norm,
                    const std::vector<int64_t>& axes = {});
// Clips the norm divided by the number of elements.
Output clip_by_average_norm(Graph& graph, Output t, Output clip_norm);

// The norm of all gradients concatenated. For a sparse gradient, duplicates are not summed first.
Output global_norm(Graph& graph, const std::vector<Gradient>& gradients);
// Scales all gradients by one factor so that their norm is at most clip_norm; NaN if the norm is
// not finite. `use_norm` is computed if absent.
struct ClippedGradients {
  std::vector<Gradient> gradients;
  Output norm;
};
ClippedGradients clip_by_global_norm(Graph& graph,
                                     const std::vector<Gradient>& gradients,
                                     Output clip_norm,
                                     Output use_norm = Output());

}  // namespace runhooks
