// Curvature: for each element of a variable, the sum over the batch of the squared derivatives of
// the model's output.
#pragma once

#include <functional>

#include "graph/variable.h"

namespace runhooks {

// Creates a tensor of the variable's shape on request.
using CurvatureFn = std::function<Output(Graph&)>;

void set_gauss_newton_diagonal(Graph& graph, const Variable& variable, CurvatureFn curvature);
// An invalid Output if the model does not provide the curvature.
Output curvature_of(Graph& graph, const Variable& variable);

}  // namespace runhooks
