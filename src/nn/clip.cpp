#include "nn/clip.h"

#include <limits>

#include "graph/graph_function.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

Output clip_by_norm(Graph& graph, Output t, Output clip_norm, const std::vector<int64_t>& axes) {
  const NameScope scope(graph, "clip_by_norm");
  const Output squares = sum_along(graph, multiply(graph, t, t), axes, true);
  // Avoids the square root of 0, whose gradient is infinite.
  const Output zero = graph.scalar(t.dtype(), 0);
  const Output is_positive = graph.op("Greater", {squares, zero});
  const Output safe = graph.op("SelectV2", {is_positive, squares, ones_like(graph, squares)});
  const Output norm = graph.op("SelectV2", {is_positive, graph.op("Sqrt", {safe}), squares});
  const Output divisor = graph.op("Maximum", {norm, clip_norm});
  return divide(graph, multiply(graph, t, clip_norm), divisor);
}

Output clip_by_average_norm(Graph& graph, Output t, Output clip_norm) {
  const NameScope scope(graph, "clip_by_average_norm");
  const Output n = cast(graph, graph.op("Size", {t}), t.dtype());
  const Output inverse = graph.op("Rsqrt", {sum_along(graph, multiply(graph, t, t), {})});
  const Output limit = divide(graph, graph.scalar(t.dtype(), 1), clip_norm);
  const Output smaller_ratio = graph.op("Minimum", {multiply(graph, inverse, n), limit});
  return multiply(graph, multiply(graph, t, clip_norm), smaller_ratio);
}

Output global_norm(Graph& graph, const std::vector<Gradient>& gradients) {
  const NameScope scope(graph, "global_norm");
  std::vector<Output> halves;
  for (const Gradient& gradient : gradients) {
    if (!gradient.is_none()) halves.push_back(graph.op("L2Loss", {gradient.values}));
  }
  if (halves.empty()) return graph.scalar(DType::kFloat32, 0);
  const Output half = graph.op("AddN", halves);
  const Output squares = multiply(graph, half, graph.scalar(half.dtype(), 2));
  return graph.op("Sqrt", {squares}).named("global_norm");
}

ClippedGradients clip_by_global_norm(Graph& graph,
                                     const std::vector<Gradient>& gradients,
                                     Output clip_norm,
                                     Output use_norm) {
  const NameScope scope(graph, "clip_by_global_norm");
  ClippedGradients clipped{gradients, use_norm ? use_norm : global_norm(graph, gradients)};
  const Output norm = clipped.norm, one = graph.scalar(norm.dtype(), 1);
  const Output smaller_ratio =
      graph.op("Minimum", {divide(graph, one, norm), divide(graph, one, clip_norm)});
  const Output finite = multiply(graph, clip_norm, smaller_ratio);
  const Output nan = graph.scalar(norm.dtype(), std::numeric_limits<double>::quiet_NaN());
  const Output scale = graph.op("SelectV2", {graph.op("IsFinite", {norm}), finite, nan});
  for (Gradient& gradient : clipped.gradients) {
    if (!gradient.is_none()) gradient.values = multiply(graph, gradient.values, scale);
  }
  return clipped;
}

namespace {

Value call_clip_by_norm(Graph& graph, const Args& args) {
  const Gradient t = gradient_argument(graph, args, "t");
  const Output limit = tensor_argument(graph, args, "clip_norm", t.values.dtype());
  return gradient_value(transform_values(t, [&](const Output& values) {
    return clip_by_norm(graph, values, limit, whole_numbers(args, "axes"));
  }));
}

Value call_clip_by_average_norm(Graph& graph, const Args& args) {
  const Output t = tensor_argument(graph, args, "t");
  return Value::of(
      clip_by_average_norm(graph, t, tensor_argument(graph, args, "clip_norm", t.dtype())));
}

std::vector<Gradient> gradients_argument(Graph& graph, const Args& args) {
  std::vector<Gradient> gradients;
  for (const Value& value : values_argument(args, "t_list")) {
    gradients.push_back(gradient_of_value(graph, value, "t_list"));
  }
  if (gradients.empty()) invalid_argument("`t_list` of ", args.owner(), " must not be empty.");
  return gradients;
}

Value call_global_norm(Graph& graph, const Args& args) {
  return Value::of(global_norm(graph, gradients_argument(graph, args)));
}

DType dtype_of_first(const std::vector<Gradient>& gradients) {
  for (const Gradient& tensor : gradients) {
    if (!tensor.is_none()) return tensor.values.dtype();
  }
  return DType::kFloat32;
}

Value call_clip_by_global_norm(Graph& graph, const Args& args) {
  const std::vector<Gradient> gradients = gradients_argument(graph, args);
  const DType dtype = dtype_of_first(gradients);
  const Output limit = tensor_argument(graph, args, "clip_norm", dtype);
  const ClippedGradients clipped = clip_by_global_norm(
      graph, gradients, limit, tensor_argument_or_none(graph, args, "use_norm", dtype));
  auto list = std::make_shared<ValueList>(), result = std::make_shared<ValueList>();
  for (const Gradient& gradient : clipped.gradients) {
    list->push_back(gradient_value(gradient));
  }
  result->push_back(Value::of(list));
  result->push_back(Value::of(clipped.norm));
  return Value::of(result);
}

}  // namespace

RUNHOOKS_REGISTER_SCOPED_FUNCTION("clip_by_norm(t, clip_norm, axes = NULL, name = NULL)",
                                  "Scales t so that its norm is at most clip_norm.",
                                  call_clip_by_norm);
RUNHOOKS_REGISTER_SCOPED_FUNCTION("clip_by_average_norm(t, clip_norm, name = NULL)",
                                  "Scales t so that its norm per element is at most clip_norm.",
                                  call_clip_by_average_norm);
RUNHOOKS_REGISTER_SCOPED_FUNCTION("global_norm, linalg.global_norm(t_list, name = NULL)",
                                  "The norm of all elements of several tensors.",
                                  call_global_norm);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "clip_by_global_norm(t_list, clip_norm, use_norm = NULL, name = NULL)",
    "Scales tensors so that their global norm is at most clip_norm; also returns the norm.",
    call_clip_by_global_norm);

}  // namespace runhooks
