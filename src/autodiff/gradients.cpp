#include "autodiff/gradients.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/interrupt.h"
#include "base/complexity_counter.h"
#include "graph/func_graph.h"
#include "graph/output_set.h"

namespace runhooks {

namespace {

// Gradients that have reached each tensor so far.
using Arrived = std::map<std::pair<const Operation*, int>, std::vector<Gradient>>;

std::pair<const Operation*, int> key_of(const Output& output) { return {output.op, output.index}; }

using Dependents = std::set<const Operation*>;

// Inputs precede their consumers, so one pass in creation order finds all dependents of xs. Tensors
// captured by a function depend on xs inside as they do outside.
void add_operations_after(const Graph& graph,
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

// The graph of ys, and its enclosing graphs up to the outermost one that contains xs.
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

// The gradient of each output of `op`, zeros for outputs without one; empty if no output has one.
std::vector<Output> output_gradients(Graph& graph, Operation& op, Arrived& arrived) {
  std::vector<Output> dy(static_cast<size_t>(op.num_outputs()));
  bool any = false;
  for (int i = 0; i < op.num_outputs(); ++i) {
    auto found = arrived.find({&op, i});
    if (found == arrived.end()) continue;
    dy[static_cast<size_t>(i)] = dense_gradient(graph, sum_of(graph, found->second));
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

// Ops that forward a value also forward a sparse gradient unchanged.
bool forwards_gradient(const Operation& op) {
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

void pass_through(Graph& graph, Operation& op, const OutputSet& stops, Arrived& arrived) {
  const auto found = arrived.find({&op, 0});
  if (found != arrived.end() && forwards_gradient(op) && !op.own_gradient) {
    const Gradient sum = sum_of(graph, found->second);
    if (sum.is_indexed_slices()) {
      if (stops.count(op.input(0)) == 0) arrived[key_of(op.input(0))].push_back(sum);
      return;
    }
  }
  const std::vector<Output> dy = output_gradients(graph, op, arrived);
  if (dy.empty() || (op.def().not_differentiable && !op.own_gradient)) return;
  if (!op.def().gradient_fn && !op.own_gradient) {
    fail(Code::kNotFound, "No gradient defined for operation '", op.name(),
         "' (op type: ", op.type(), ").");
  }
  const std::vector<Gradient> dx = op.own_gradient ? op.own_gradient->gradient(graph, op, dy)
                                                   : op.def().gradient_fn(graph, op, dy);
  for (size_t i = 0; i < op.inputs().size(); ++i) {
    const Output& input = op.inputs()[i];
    if (dx[i].is_none() || stops.count(input) > 0) continue;
    check_gradient_shape(op, i, dx[i]);
    arrived[key_of(input)].push_back(dx[i]);
  }
}

// Continues the gradients of captured tensors in the outer graph.
void continue_in_outer_graph(const FuncGraph& function, Arrived& arrived) {
  for (const auto& argument : function.arguments()) {
    const auto found = arrived.find(key_of(argument.inside));
    if (!argument.outside || found == arrived.end()) continue;
    std::vector<Gradient>& outside = arrived[key_of(argument.outside)];
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
    add_operations_after(*graphs[i], all_xs, stops, dependents);
  }
  Arrived arrived, whole;
  int last = -1;
  for (size_t i = 0; i < ys.size(); ++i) {
    if (ys[i].dtype() == DType::kString) {
      invalid_argument("Gradients need numeric tensors; '", ys[i].name(), "' is string.");
    }
    const Output given = i < grad_ys.size() ? grad_ys[i] : Output();
    if (given && !given.shape().is_compatible_with(ys[i].shape())) {
      invalid_argument("grad_ys has shape ", given.shape(), ", but '", ys[i].name(), "' has shape ",
                       ys[i].shape(), ".");
    }
    // Tensor lists have lists of gradients.
    const bool flows = is_floating(ys[i].dtype()) || ys[i].dtype() == DType::kVariant;
    // Integers have a gradient only with respect to themselves.
    if (!flows && (!is_integer(ys[i].dtype()) || all_xs.count(ys[i]) == 0)) continue;
    (flows ? arrived : whole)[key_of(ys[i])].push_back(given ? given : ones_for(graph, ys[i]));
    if (flows) last = std::max(last, ys[i].op->id());
  }
  for (const Graph* from : graphs) {
    if (from != graphs[0]) last = from->version() - 1;
    for (int id = last; id >= 0; --id) {
      Operation& op = *from->operations()[static_cast<size_t>(id)];
      if (dependents.count(&op) == 0) continue;
      check_interrupt_throttled();
      NameScope op_scope(graph, op.name() + "_grad");
      pass_through(graph, op, stops, arrived);
    }
    if (from != graphs.back())
      continue_in_outer_graph(static_cast<const FuncGraph&>(*from), arrived);
  }
  arrived.merge(whole);
  std::vector<Gradient> result;
  for (const Output& x : xs) {
    auto found = arrived.find(key_of(x));
    result.push_back(found == arrived.end() ? Gradient() : sum_of(graph, found->second));
  }
  return result;
}

}  // namespace runhooks
