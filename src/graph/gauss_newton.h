// Gauss-Newton diagonals of variables, which models provide and optimizers use as curvature.
#pragma once

#include <functional>

#include "graph/variable.h"

namespace runhooks {

// Adds a tensor of the variable's shape to the graph. Each element is the sum over the batch of the
// squared derivatives of the outputs with respect to that element of the variable.
using CurvatureFn = std::function<Output(Graph&)>;

void set_gauss_newton_diagonal(Graph& graph, const Variable& variable, CurvatureFn curvature);
// Invalid if the model has not set a diagonal for the variable.
Output curvature_of(Graph& graph, const Variable& variable);

}  // namespace runhooks
