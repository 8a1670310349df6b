// What lives here: what gradients of many ops are made of.
// Who may use it: ops, nn and training, to write formulas in ops.
// What it must not know: the walk over the graph, sessions, R.
#pragma once

#include "graph/graph.h"

namespace runhooks {

// The gradients of the two operands of a broadcasting op from those that have the result's shape;
// either may be none.
std::vector<Gradient> sum_to_operands(Graph& graph,
                                      Operation& op,
                                      Gradient grad_a,
                                      Gradient grad_b);

Output shape_of(Graph& graph, Output x);
Output ones_like(Graph& graph, Output x);

inline Output add(Graph& g, Output a, Output b) { return g.op("AddV2", {a, b}).named("add"); }
inline Output subtract(Graph& g, Output a, Output b) { return g.op("Sub", {a, b}).named("sub"); }
inline Output multiply(Graph& g, Output a, Output b) { return g.op("Mul", {a, b}).named("mul"); }
inline Output divide(Graph& g, Output a, Output b) {
  return g.op("RealDiv", {a, b}).named("truediv");
}
inline Output negative(Graph& g, Output a) { return g.op("Neg", {a}); }
// A constant of the type of `like`.
inline Output number(Graph& g, Output like, double value) { return g.scalar(like.dtype(), value); }
// Those rows of `table` that `indices` name.
inline Output rows_at(Graph& g, Output table, Output indices) {
  return g.op("GatherV2", {table, indices, g.scalar(DType::kInt32, 0)});
}
inline Output cast(Graph& g, Output x, DType dtype) {
  if (x.dtype() == dtype) return x;
  return g.op("Cast", {x}).attr("DstT", dtype);
}

}  // namespace runhooks
