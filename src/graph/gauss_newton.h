// Curvature, what a model says of how strongly its outputs depend on each element of a variable: the
// sum over the batch of the squares by which an output changes with it.
#pragma once

#include <functional>

#include "graph/variable.h"

namespace runhooks {

// A tensor of the variable's shape; made when it is asked for.
using CurvatureFn = std::function<Output(Graph&)>;

void set_gauss_newton_diagonal(Graph& graph, const Variable& variable, CurvatureFn curvature);
// Invalid where the model offers none.
Output curvature_of(Graph& graph, const Variable& variable);

}  // namespace runhooks
