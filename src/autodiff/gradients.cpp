#include "autodiff/gradients.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/complexity_counter.h"
#include "base/interrupt.h"
#include "graph/func_graph.h"
#include "graph/output_set.h"

namespace runhooks {

namespace {

// For each tensor (operation and output index), one partial gradient from each consumer that has
// been visited.
using GradientMap = std::map<std::pair<const Operation*, int>, std::vector<Gradient>>;

std::pair<const Operation*, int> key_of(const Output& output) { return {output.op, output.index}; }

using Dependents = std::set<const Operation*>;

// Adds the operations of `graph` that depend on xs to `dependents`. Inputs precede their consumers,
// so one pass in creation order finds all of them. An argument of a function depends on xs if the
// tensor that it captures does.
void add_dependents(const Graph& graph,
                    const OutputSet& xs,
                    const OutputSet& stops,
                    Dependents& dependents) {
  const auto depends = [&](const Output& input) {
    ++pass_work_count();
    if (stops.count(input) > 0) return false;
    return xs.count(input) > 0 || dependents.count(input.op) > 0;
  };
  if (const auto* function = dynamic_cast<const FuncGraph*>(&graph)) {
    for (const auto& argument : function->arguments()) {
      if (argument.outside && depends(argument.outside)) dependents.insert(argument.inside.op);
    }
  }
  InterruptPoll poll;
  for (const auto& op : graph.operations()) {
    poll();
    if (std::any_of(op->inputs().begin(), op->inputs().end(), depends)) dependents.insert(op.get());
  }
}

// Returns the graph of ys and its enclosing graphs, up to the outermost graph that contains one of
// xs.
std::vector<const Graph*> graphs_between(const Graph& of_ys, const std::vector<Output>& xs) {
  std::vector<const Graph*> graphs = {&of_ys};
  const auto has_x = [&xs](const Graph* graph) {
    return std::any_of(xs.begin(), xs.end(), [=](const Output& x) { return &x.graph() == graph; });
  };
  size_t needed = 1;
  while (const auto* function = dynamic_cast<const FuncGraph*>(graphs.back())) {
    graphs.push_back(&function->outer());
    if (has_x(graphs.back())) needed = graphs.size();
  }
  graphs.resize(needed);
  return graphs;
}

Gradient sum_gradients(Graph& graph, const std::vector<Gradient>& parts) {
  if (parts.size() == 1) return parts[0];
  const bool all_are_slices = std::all_of(
      parts.begin(), parts.end(), [](const Gradient& part) { return part.is_indexed_slices(); });
  std::vector<Output> values, indices;
  if (!all_are_slices) {
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

// Returns the gradient of each output of `op`, with zeros for outputs without a gradient. Returns
// an empty vector if no output has a gradient.
std::vector<Output> output_gradients(Graph& graph, Operation& op, GradientMap& partial_gradients) {
  std::vector<Output> dy(static_cast<size_t>(op.num_outputs()));
  bool any = false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    auto found = partial_gradients.find({&op, i});
    if (found == partial_gradients.end()) continue;
    dy[static_cast<size_t>(i)] = dense_gradient(graph, sum_gradients(graph, found->second));
    any = true;
  }
  if (!any) return {};
  if (op.def().calls_functions) return dy;
  for (int i = 0; i < op.num_outputs(); ++i) {
    Output& grad = dy[static_cast<size_t>(i)];
    if (!grad) grad = graph.op("ZerosLike", {op.output(i)});
  }
  return dy;
}

// Whether the operation passes a sparse gradient of its output to its input unchanged.
bool forwards_indexed_slices(const Operation& op) {
  return op.def().is_identity || op.def().reads_variable;
}

void check_gradient_shape(const Operation& op, size_t i, const Gradient& dx) {
  const Output& input = op.inputs()[i];
  const bool is_handle = input.dtype() == DType::kResource || input.dtype() == DType::kVariant;
  if (is_handle || dx.is_indexed_slices()) return;
  if (dx.values.shape().is_compatible_with(input.shape())) return;
  invalid_argument("The gradient of input ", static_cast<int64_t>(i), " of '", op.name(), "' (",
                   op.type(), ") has shape ", dx.values.shape(), ", but '", input.name(),
                   "' has shape ", input.shape(), ".");
}

void backpropagate(Graph& graph,
                   Operation& op,
                   const OutputSet& stops,
                   GradientMap& partial_gradients) {
  const auto found = partial_gradients.find({&op, 0});
  if (found != partial_gradients.end() && forwards_indexed_slices(op) && !op.gradient_override) {
    const Gradient sum = sum_gradients(graph, found->second);
    if (sum.is_indexed_slices()) {
      if (stops.count(op.input(0)) == 0) partial_gradients[key_of(op.input(0))].push_back(sum);
      return;
    }
  }
  const std::vector<Output> dy = output_gradients(graph, op, partial_gradients);
  if (dy.empty() || (op.def().not_differentiable && !op.gradient_override)) return;
  if (!op.def().gradient_fn && !op.gradient_override) {
    fail(Code::kNotFound, "No gradient defined for operation '", op.name(),
         "' (op type: ", op.type(), ").");
  }
  const std::vector<Gradient> dx = op.gradient_override ? op.gradient_override->gradient(graph, op, dy)
                                                   : op.def().gradient_fn(graph, op, dy);
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    if (dx[i].is_none() || stops.count(input) > 0) continue;
    check_gradient_shape(op, i, dx[i]);
    partial_gradients[key_of(input)].push_back(dx[i]);
  }
}

// Adds the gradients of arguments to the partial gradients of the tensors that they capture.
void propagate_to_outer_graph(const FuncGraph& function, GradientMap& partial_gradients) {
  for (const auto& argument : function.arguments()) {
    const auto found = partial_gradients.find(key_of(argument.inside));
    if (!argument.outside || found == partial_gradients.end()) continue;
    std::vector<Gradient>& outside = partial_gradients[key_of(argument.outside)];
    outside.insert(outside.end(), found->second.begin(), found->second.end());
  }
}

const Graph& graph_of(const std::vector<Output>& ys) {
  for (const Output& y : ys) {
    if (&y.graph() != &ys[0].graph()) {
      invalid_argument("Gradients of '", ys[0].name(), "' and '", y.name(),
                       "' cannot be computed in one call: they belong to different graphs.");
    }
  }
  return ys[0].graph();
}

}  // namespace

std::vector<Gradient> gradients(Graph& graph,
                                const std::vector<Output>& ys,
                                const std::vector<Output>& xs,
                                const std::vector<Output>& grad_ys,
                                const std::vector<Output>& stop_gradients,
                                const std::string& name) {
  NameScope scope(graph, name);
  const std::vector<const Graph*> graphs = graphs_between(graph_of(ys), xs);
  const OutputSet all_xs(xs.begin(), xs.end());
  const OutputSet stops(stop_gradients.begin(), stop_gradients.end());
  Dependents dependents;
  for (size_t i = graphs.size(); i-- > 0;) {
    add_dependents(*graphs[i], all_xs, stops, dependents);
  }
  GradientMap partial_gradients, integer_gradients;
  int last_id = -1;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (ys[i].dtype() == DType::kString) {
      invalid_argument("Gradients need numeric tensors; '", ys[i].name(), "' is string.");
    }
    const Output grad_y = i < grad_ys.size() ? grad_ys[i] : Output();
    if (grad_y && !grad_y.shape().is_compatible_with(ys[i].shape())) {
      invalid_argument("grad_ys has shape ", grad_y.shape(), ", but '", ys[i].name(),
                       "' has shape ", ys[i].shape(), ".");
    }
    // A tensor list (variant) has a list of gradients.
    const bool is_differentiable = is_floating(ys[i].dtype()) || ys[i].dtype() == DType::kVariant;
    // An integer tensor has a gradient only with respect to itself.
    if (!is_differentiable && (!is_integer(ys[i].dtype()) || all_xs.count(ys[i]) == 0)) continue;
    (is_differentiable ? partial_gradients : integer_gradients)[key_of(ys[i])].push_back(
        grad_y ? grad_y : ones_for(graph, ys[i]));
    if (is_differentiable) last_id = std::max(last_id, ys[i].op->id());
  }
  for (const Graph* current : graphs) {
    if (current != graphs[0]) last_id = current->version() - 1;
    for (int id = last_id; id >= 0; --id) {
      Operation& op = *current->operations()[static_cast<size_t>(id)];
      if (dependents.count(&op) == 0) continue;
      check_interrupt_throttled();
      NameScope op_scope(graph, op.name() + "_grad");
      backpropagate(graph, op, stops, partial_gradients);
    }
    if (current != graphs.back())
      propagate_to_outer_graph(static_cast<const FuncGraph&>(*current), partial_gradients);
  }
  partial_gradients.merge(integer_gradients);
  std::vector<Gradient> result;
  for (const Output& x : xs) {
    auto found = partial_gradients.find(key_of(x));
    result.push_back(found == partial_gradients.end() ? Gradient()
                                                      : sum_gradients(graph, found->second));
  }
  return result;
}

}  // namespace runhooks
