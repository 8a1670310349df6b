// Helpers for the gradient functions of ops.
#pragma once

#include "graph/graph.h"

namespace runhooks {

// Reduces the gradients of two broadcast operands from the shape of the result to the shapes of the
// operands. Either gradient may be absent.
Grads sum_to_operands(Graph& graph, Operation& op, Gradient grad_a, Gradient grad_b);

// Returns the gradient function of y = f(x) whose derivative is `derivative(graph, x, y)`.
GradientFn chain_rule(std::function<Output(Graph&, Output x, Output y)> derivative);

Output shape_of(Graph& graph, Output x);
Output ones_like(Graph& graph, Output x);

inline Output add(Graph& g, Output a, Output b) { return g.op("AddV2", {a, b}).named("add"); }
inline Output subtract(Graph& g, Output a, Output b) { return g.op("Sub", {a, b}).named("sub"); }
inline Output multiply(Graph& g, Output a, Output b) { return g.op("Mul", {a, b}).named("mul"); }
inline Output divide(Graph& g, Output a, Output b) {
  return g.op("RealDiv", {a, b}).named("truediv");
}
inline Output negative(Graph& g, Output a) { return g.op("Neg", {a}); }
// Adds a scalar constant with the type of `like`.
inline Output number(Graph& g, Output like, double value) { return g.scalar(like.dtype(), value); }
// Returns the rows of `table` at the indices along its first axis.
inline Output rows_at(Graph& g, Output table, Output indices) {
  return g.op("GatherV2", {table, indices, g.scalar(DType::kInt32, 0)});
}
inline Output cast(Graph& g, Output x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return g.op("Cast", {x}).attr("DstT", dtype);
}

}  // namespace runhooks
