#include "ops/state/gradient_helpers.h"

namespace runhooks {

Output shape_of(Graph& graph, Output x) { return graph.op("Shape", {x}); }

Output ones_like(Graph& graph, Output x) {
  return graph.op("Fill", {shape_of(graph, x), graph.scalar(x.dtype(), 1)}).named("ones_like");
}

GradientFn chain_rule(std::function<Output(Graph&, Output x, Output y)> derivative) {
  return [derivative](Graph& g, Operation& op, const Outputs& dy) -> Grads {
    return {multiply(g, dy[0], derivative(g, op.input(0), op.output(0)))};
  };
}

Grads sum_to_operands(Graph& graph, Operation& op, Gradient grad_a, Gradient grad_b) {
  const Shape &a = op.input(0).shape(), &b = op.input(1).shape();
  if (a.is_fully_defined() && a == b) return {grad_a, grad_b};
  const Output shape_a = shape_of(graph, op.input(0)), shape_b = shape_of(graph, op.input(1));
  Operation* args = graph.op("BroadcastGradientArgs", {shape_a, shape_b});
  auto reduce = [&graph](const Gradient& grad, Output axes, Output shape) -> Gradient {
    if (grad.is_none()) return grad;
    const Output sum = graph.op("Sum", {grad.values, axes});
    return graph.op("Reshape", {sum, shape});
  };
  return {reduce(grad_a, args->output(0), shape_a), reduce(grad_b, args->output(1), shape_b)};
}

}  // namespace runhooks
