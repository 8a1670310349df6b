// The diagonal of the Gauss-Newton matrix: for each element of a variable, the sum over the batch
// of the squared derivatives of the model's output. Optimizers use it as an estimate of curvature.
#pragma once

#include <functional>

#include "graph/variable.h"

namespace runhooks {

// Adds operations that compute the diagonal, with the shape of the variable.
using DiagonalFn = std::function<Output(Graph&)>;

void set_gauss_newton_diagonal(Graph& graph, const Variable& variable, DiagonalFn diagonal);
// Returns the diagonal as a tensor; an invalid Output if the model does not provide the diagonal.
Output gauss_newton_diagonal(Graph& graph, const Variable& variable);

}  // namespace runhooks
