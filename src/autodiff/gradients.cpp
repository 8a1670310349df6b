#include "autodiff/gradients.h"

#include <algorithm>
#include <map>

namespace runhooks {

namespace {

bool contains(const std::vector<Output>& outputs, const Output& output) {
  return std::find(outputs.begin(), outputs.end(), output) != outputs.end();
}

// What has arrived at each tensor so far, by operation id and output.
using Arrived = std::map<std::pair<int, int>, std::vector<Gradient>>;

std::pair<int, int> key_of(const Output& output) { return {output.op->id(), output.index}; }

// Inputs come before what uses them, so one pass in order of creation finds all that depends on xs.
std::vector<bool> operations_after(const Graph& graph,
                                   const std::vector<Output>& xs,
                                   const std::vector<Output>& stops) {
  std::vector<bool> depends(graph.operations().size(), false);
  for (const auto& op : graph.operations()) {
    const auto& inputs = op->inputs();
    depends[static_cast<size_t>(op->id())] =
        std::any_of(inputs.begin(), inputs.end(), [&](const Output& input) {
          if (contains(stops, input)) return false;
          return contains(xs, input) || depends[static_cast<size_t>(input.op->id())];
        });
  }
  return depends;
}

Gradient sum_of(Graph& graph, const std::vector<Gradient>& parts) {
  if (parts.size() == 1) return parts[0];
  const bool all_rows = std::all_of(parts.begin(), parts.end(),
                                    [](const Gradient& part) { return part.is_indexed_slices(); });
  std::vector<Output> values, indices;
  if (!all_rows) {
    for (const Gradient& part : parts) values.push_back(dense_gradient(graph, part));
    return graph.op("AddN", values);
  }
  for (const Gradient& part : parts) {
    values.push_back(part.values);
    const bool is_wide = part.indices.dtype() == DType::kInt64;
    indices.push_back(is_wide ? part.indices
                              : static_cast<Output>(
                                    graph.op("Cast", {part.indices}).attr("DstT", DType::kInt64)));
  }
  const Output axis = graph.scalar(DType::kInt32, 0);
  values.push_back(axis);
  indices.push_back(axis);
  Gradient sum;
  sum.values = graph.op("ConcatV2", values);
  sum.indices = graph.op("ConcatV2", indices);
  sum.dense_shape = parts[0].dense_shape;
  return sum;
}

Output ones_for(Graph& graph, Output y) {
  const Output shape = graph.op("Shape", {y});
  return graph.op("Fill", {shape, graph.scalar(y.dtype(), 1)}).named("grad_ys_0");
}

// The gradient of each output of `op`, zeros where none has arrived; empty where none has arrived
// at all.
std::vector<Output> output_gradients(Graph& graph, Operation& op, Arrived& arrived) {
  std::vector<Output> dy(static_cast<size_t>(op.num_outputs()));
  bool any = false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    auto found = arrived.find({op.id(), i});
    if (found == arrived.end()) continue;
    dy[static_cast<size_t>(i)] = dense_gradient(graph, sum_of(graph, found->second));
    any = true;
  }
  if (!any) return {};
  for (int i = 0; i < op.num_outputs(); ++i) {
    Output& grad = dy[static_cast<size_t>(i)];
    if (!grad) grad = graph.op("ZerosLike", {op.output(i)});
  }
  return dy;
}

// What only hands a value on hands on a gradient of rows as it is.
bool hands_on(const Operation& op) {
  return op.def().is_identity || op.def().reads_variable;
}

void pass_through(Graph& graph, Operation& op, const std::vector<Output>& stops, Arrived& arrived) {
  const auto found = arrived.find({op.id(), 0});
  if (found != arrived.end() && hands_on(op)) {
    const Gradient sum = sum_of(graph, found->second);
    if (sum.is_indexed_slices()) {
      if (!contains(stops, op.input(0))) arrived[key_of(op.input(0))].push_back(sum);
      return;
    }
  }
  const std::vector<Output> dy = output_gradients(graph, op, arrived);
  if (dy.empty() || op.def().not_differentiable) return;
  if (!op.def().gradient_fn) {
    fail(Code::kNotFound, "No gradient defined for operation '", op.name(),
         "' (op type: ", op.type(), ").");
  }
  const std::vector<Gradient> dx = op.def().gradient_fn(graph, op, dy);
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    if (!dx[i].is_none() && !contains(stops, input)) arrived[key_of(input)].push_back(dx[i]);
  }
}

}  // namespace

Output dense_gradient(Graph& graph, const Gradient& gradient) {
  if (!gradient.is_indexed_slices()) return gradient.values;
  const Output first =
      graph.op("Slice", {gradient.dense_shape, graph.int_vector({0}), graph.int_vector({1})});
  const Output rows = graph.op("Reshape", {first, graph.int_vector({})});
  return graph.op("UnsortedSegmentSum", {gradient.values, gradient.indices, rows});
}

std::vector<Gradient> gradients(Graph& graph,
                                const std::vector<Output>& ys,
                                const std::vector<Output>& xs,
                                const std::vector<Output>& grad_ys,
                                const std::vector<Output>& stop_gradients,
                                const std::string& name) {
  NameScope scope(graph, name);
  const std::vector<bool> depends = operations_after(graph, xs, stop_gradients);
  Arrived arrived;
  int last = -1;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (!is_floating(ys[i].dtype())) {
      invalid_argument("Gradients can be taken of floating-point tensors only; '", ys[i].name(),
                       "' is ", dtype_name(ys[i].dtype()), ".");
    }
    const Output given = i < grad_ys.size() ? grad_ys[i] : Output();
    if (given && !given.shape().is_compatible_with(ys[i].shape())) {
      invalid_argument("grad_ys has shape ", given.shape(), ", but '", ys[i].name(), "' has shape ",
                       ys[i].shape(), ".");
    }
    arrived[key_of(ys[i])].push_back(given ? given : ones_for(graph, ys[i]));
    last = std::max(last, ys[i].op->id());
  }
  for (int id = last; id >= 0; --id) {
    Operation& op = *graph.operations()[static_cast<size_t>(id)];
    if (!depends[static_cast<size_t>(id)]) continue;
    NameScope op_scope(graph, op.name() + "_grad");
    pass_through(graph, op, stop_gradients, arrived);
  }
  std::vector<Gradient> result;
  for (const Output& x : xs) {
    auto found = arrived.find(key_of(x));
    result.push_back(found == arrived.end() ? Gradient() : sum_of(graph, found->second));
  }
  return result;
}

}  // namespace runhooks
