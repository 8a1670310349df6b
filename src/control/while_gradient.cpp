// The gradient of a loop is a loop with the same number of iterations in reverse order. The forward
// loop is extended to push intermediate values onto lists, and the gradient pops them. No value is
// recomputed, so random numbers are the same.
#include <algorithm>
#include <map>
#include <utility>

#include "autodiff/gradients.h"
#include "control/functions.h"
#include "control/while_op.h"
#include "graph/ancestors.h"

namespace runhooks {

namespace {

std::vector<size_t> arguments_needed_by(const FuncGraph& body, const Output& result) {
  const OperationsById ancestors = ancestors_of({result.op}, Through::kInputs);
  std::vector<size_t> needed_arguments;
  for (size_t i = 0; i < body.arguments().size(); ++i) {
    if (ancestors.count(body.argument(i).op->id()) > 0) needed_arguments.push_back(i);
  }
  return needed_arguments;
}

// Returns the indices of the body's arguments that receive a gradient in any iteration. `dy` holds
// the gradients of the loop's results; a result without a gradient has an invalid output.
std::vector<size_t> arguments_with_gradient(const FuncGraph& body, const std::vector<Output>& dy) {
  std::vector<bool> has_gradient(body.arguments().size(), false);
  std::vector<size_t> pending;
  const auto add = [&](size_t i) {
    if (has_gradient[i] || !may_have_gradient(body.arguments()[i])) return;
    has_gradient[i] = true;
    pending.push_back(i);
  };
  for (size_t i = 0; i < dy.size(); ++i) {
    if (dy[i]) add(i);
  }
  while (!pending.empty()) {
    const size_t i = pending.back();
    pending.pop_back();
    for (const size_t needed : arguments_needed_by(body, body.results[i])) add(needed);
  }
  std::vector<size_t> indices;
  for (size_t i = 0; i < has_gradient.size(); ++i) {
    if (has_gradient[i]) indices.push_back(i);
  }
  return indices;
}

// Returns the output of the loop `op` that lists the values of `x` in all iterations. `x` is a
// tensor of the loop's body. Adds the output if it is missing.
Output saved_values_of(Operation& op, const Output& x) {
  FuncGraph &body = function_attr(op, "body"), &cond = function_attr(op, "cond");
  for (size_t i = 0; i < body.results.size(); ++i) {
    // Only a push op takes a list and a tensor and returns a list.
    const std::vector<Output> list_and_x = {body.argument(i), x};
    const Output& result = body.results[i];
    if (result.dtype() == DType::kVariant && result.op->inputs() == list_and_x) {
      return op.output(static_cast<int>(i));
    }
  }
  Graph& outside = op.graph();
  const ControlDependencies no_dependencies(outside, {}, true),
      no_inner_dependencies(body, {}, true);
  const NameScope scope(outside, body.scope()), inner_scope(body, body.scope());
  const Output empty = empty_list(outside, x.dtype(), x.shape());
  const Output list = body.add_argument(DType::kVariant, Shape(), "accumulator");
  cond.add_argument(DType::kVariant, Shape(), "accumulator");
  body.results.push_back(body.op("TensorListPushBack", {list, x}).attr("element_dtype", x.dtype()));
  outside.extend(op, {empty}, {{DType::kVariant, Shape()}});
  return op.output(op.num_outputs() - 1);
}

class BackwardBody {
 public:
  BackwardBody(Graph& graph, Operation& op, const std::string& scope)
      : op_(op),
        forward_(function_attr(op, "body")),
        body_(std::make_shared<FuncGraph>(graph, scope, "grad_body")) {
    body_->set_forward_graph(forward_, [this](const Output& x) { return value_of(x); });
  }
  const std::shared_ptr<FuncGraph>& function() const { return body_; }
  Output next(const Output& argument) const {
    const auto remaining = remaining_lists_.find({argument.op, argument.index});
    return remaining == remaining_lists_.end() ? argument : remaining->second;
  }

 private:
  Output value_of(const Output& x) {
    const int i = argument_index(forward_, x);
    if (i >= 0 && is_loop_invariant(forward_, static_cast<size_t>(i))) return op_.input(i);
    const Output list = body_->capture(saved_values_of(op_, x));
    const ControlDependencies no_dependencies(*body_, {}, true);
    const NameScope scope(*body_, body_->scope());
    Operation* pop = body_->op("TensorListPopBack", {list, body_->scalar(DType::kInt32, -1)})
                         .attr("element_dtype", x.dtype());
    pop->set_output_shape(1, x.shape());
    remaining_lists_[{list.op, list.index}] = pop->output(0);
    return pop->output(1);
  }

  Operation& op_;
  const FuncGraph& forward_;
  std::shared_ptr<FuncGraph> body_;
  std::map<std::pair<Operation*, int>, Output> remaining_lists_;
};

// Accumulates the gradient of a loop-invariant argument over the iterations: dense gradients are
// added, sparse ones concatenated. For a sparse gradient of a captured tensor, TensorFlow starts
// with one row of zeros.
class GradientAccumulator {
 public:
  // `contribution`, a tensor of the gradient's body, is the contribution of one iteration.
  GradientAccumulator(FuncGraph& body,
                      const FuncGraph::Argument& argument,
                      const Gradient& contribution)
      : body_(body), argument_(argument) {
    if (contribution.is_indexed_slices() && argument.outside) {
      contribution_ = Gradient(body.capture(contribution.values));
      contribution_.indices = body.capture(contribution.indices);
    } else {
      contribution_ = Gradient(body.capture(dense_gradient(body, contribution)));
    }
  }
  // Adds the accumulator to the loop. `initial` is optional; `like` is the argument's value.
  Gradient add_to(Operation& loop, Graph& graph, const Output& initial, const Output& like) const {
    if (!contribution_.is_indexed_slices()) {
      const Output start = initial ? initial : zeros_for(graph, argument_, like);
      return add_loop_accumulator(loop, start, gradient_shape(argument_),
                                  [this](const Output& sum) {
                                    return body_.op("AddN", {sum, contribution_.values});
                                  });
    }
    Gradient rows =
        add_loop_accumulator(loop, row_of_zeros(graph, like), contribution_.values.shape(),
                             append_update(contribution_.values));
    const Output no_indices = graph.constant(Tensor::zeros(contribution_.indices.dtype(), {1}));
    rows.indices = add_loop_accumulator(loop, no_indices, Shape::unknown_of_rank(1),
                                        append_update(contribution_.indices));
    rows.dense_shape = shape_for(graph, argument_, like);
    return rows;
  }

 private:
  using Update = std::function<Output(const Output&)>;
  Update append_update(const Output& contribution) const {
    return [this, contribution](const Output& accumulated) -> Output {
      return body_.op("ConcatV2", {accumulated, contribution, body_.scalar(DType::kInt32, 0)});
    };
  }
  Output add_loop_accumulator(Operation& loop,
                              const Output& initial,
                              Shape shape,
                              const Update& update) const {
    FuncGraph& cond = function_attr(loop, "cond");
    const ControlDependencies no_dependencies(body_, {}, true);
    const NameScope inner_scope(body_, body_.scope());
    if (contribution_.is_indexed_slices() && shape.has_rank()) shape.set_dim(0, Shape::kUnknownDim);
    const Output accumulated = body_.add_argument(initial.dtype(), shape, "accumulator");
    cond.add_argument(initial.dtype(), shape, "accumulator");
    body_.results.push_back(update(accumulated));
    loop.graph().extend(loop, {initial}, {{initial.dtype(), shape}});
    return loop.output(loop.num_outputs() - 1);
  }
  Output row_of_zeros(Graph& graph, const Output& like) const {
    const DType dtype = contribution_.values.dtype();
    Shape shape = gradient_shape(argument_);
    if (shape.has_rank() && shape.rank() > 0) shape.set_dim(0, 1);
    if (shape.is_fully_defined()) return graph.constant(Tensor::zeros(dtype, shape));
    const Output row_shape = graph.op("Slice", {shape_for(graph, argument_, like),
                                                graph.int_vector({1}), graph.int_vector({-1})});
    const Output dims =
        graph.op("ConcatV2", {graph.int_vector({1}), row_shape, graph.scalar(DType::kInt32, 0)});
    return graph.op("Fill", {dims, graph.constant(Tensor::zeros(dtype, Shape()))});
  }

  FuncGraph& body_;
  const FuncGraph::Argument argument_;
  Gradient contribution_;
};

// Builds the gradient loop. Its loop variables are the gradients of the arguments that the forward
// body changes.
class LoopGradient {
 public:
  LoopGradient(Graph& graph, Operation& op, const std::vector<Output>& dy)
      : graph_(graph),
        op_(op),
        dy_(dy),
        forward_(function_attr(op, "body")),
        scope_(graph, "while"),
        backward_(graph, op, scope_.name()),
        cond_(std::make_shared<FuncGraph>(graph, scope_.name(), "grad_cond")),
        body_(*backward_.function()) {}

  std::vector<Gradient> of_inputs(const std::vector<size_t>& indices) {
    counter_ = body_.add_argument(DType::kInt32, Shape(), "counter");
    const Output cond_counter = cond_->add_argument(DType::kInt32, Shape(), "counter");
    add_grad_variables(indices);
    const std::vector<Gradient> contributions = body_gradients(indices);
    body_.results = {body_.op("AddV2", {counter_, body_.scalar(DType::kInt32, 1)}).named("count")};
    std::vector<std::pair<size_t, GradientAccumulator>> accumulators;
    for (size_t k = 0, m = 0; k < indices.size(); ++k) {
      const bool has_contribution = !contributions[k].is_none();
      if (!is_loop_invariant(forward_, indices[k])) {
        body_.results.push_back(has_contribution
                                    ? body_.capture(dense_gradient(body_, contributions[k]))
                                    : body_.op("ZerosLike", {grad_variables_[m]}));
        ++m;
      } else if (has_contribution) {
        accumulators.emplace_back(
            indices[k],
            GradientAccumulator(body_, forward_.arguments()[indices[k]], contributions[k]));
      }
    }
    cond_->results = {cond_->op("Less", {cond_counter, cond_->capture(op_.output(0))})};
    Operation* loop = add_loop(
        graph_, initial_, cond_, backward_.function(),
        [this](const Output& argument) { return backward_.next(argument); },
        op_.attr_int("parallel_iterations"));
    std::vector<Gradient> result(op_.inputs().size());
    int output = 1;
    for (const size_t i : indices) {
      result[i] = is_loop_invariant(forward_, i) ? initial_gradient(i) : loop->output(output++);
    }
    for (const auto& [i, accumulator] : accumulators) {
      result[i] = accumulator.add_to(*loop, graph_, dy_[i], value_outside(i));
    }
    return result;
  }

 private:
  Output value_outside(size_t i) const {
    const int k = static_cast<int>(i);
    return is_loop_invariant(forward_, i) ? op_.input(k) : op_.output(k);
  }
  Output initial_gradient(size_t i) {
    return dy_[i] ? dy_[i] : zeros_for(graph_, forward_.arguments()[i], value_outside(i));
  }
  void add_grad_variables(const std::vector<size_t>& indices) {
    initial_ = {graph_.scalar(DType::kInt32, 0, "loop_counter")};
    for (const size_t i : indices) {
      if (is_loop_invariant(forward_, i)) continue;
      const auto& argument = forward_.arguments()[i];
      const DType dtype = gradient_dtype(argument);
      const Shape shape = gradient_shape(argument);
      grad_variables_.push_back(body_.add_argument(dtype, shape, "grad"));
      cond_->add_argument(dtype, shape, "grad");
      initial_.push_back(initial_gradient(i));
    }
  }
  std::vector<Gradient> body_gradients(const std::vector<size_t>& indices) {
    std::vector<Output> ys, xs;
    for (const size_t i : indices) {
      xs.push_back(forward_.argument(i));
      if (!is_loop_invariant(forward_, i)) ys.push_back(forward_.results[i]);
    }
    if (ys.empty()) return std::vector<Gradient>(xs.size());
    return gradients(body_, ys, xs, grad_variables_, {}, "gradients");
  }

  Graph& graph_;
  Operation& op_;
  const std::vector<Output>& dy_;
  const FuncGraph& forward_;
  const NameScope scope_;
  BackwardBody backward_;
  const std::shared_ptr<FuncGraph> cond_;
  FuncGraph& body_;
  Output counter_;
  // The initial values of the gradient loop's variables, and the same variables inside its body.
  std::vector<Output> initial_, grad_variables_;
};

}  // namespace

std::vector<Gradient> while_gradient(Graph& graph,
                                     Operation& op,
                                     const std::vector<Output>& all_dy) {
  const FuncGraph& forward = function_attr(op, "body");
  std::vector<Output> dy = all_dy;
  for (size_t i = 0; i < dy.size(); ++i) {
    if (dy[i] && !may_have_gradient(forward.arguments()[i])) dy[i] = Output();
  }
  const std::vector<size_t> indices = arguments_with_gradient(forward, dy);
  if (indices.empty()) return std::vector<Gradient>(op.inputs().size());
  return LoopGradient(graph, op, dy).of_inputs(indices);
}

}  // namespace runhooks
