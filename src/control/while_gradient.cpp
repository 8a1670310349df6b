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
  const NumberedOperations needed = ancestors_of({result.op}, Through::kInputs);
  std::vector<size_t> behind;
  for (size_t i = 0; i < body.arguments().size(); ++i) {
    if (needed.count(body.argument(i).op->id()) > 0) behind.push_back(i);
  }
  return behind;
}

// The arguments that receive a gradient if these results have one, after any number of iterations.
std::vector<size_t> arguments_with_gradient(const FuncGraph& body, const std::vector<Output>& dy) {
  std::vector<bool> has(body.arguments().size(), false);
  std::vector<size_t> open;
  const auto add = [&](size_t i) {
    if (has[i] || !may_have_gradient(body.arguments()[i])) return;
    has[i] = true;
    open.push_back(i);
  };
  for (size_t i = 0; i < dy.size(); ++i) {
    if (dy[i]) add(i);
  }
  while (!open.empty()) {
    const size_t i = open.back();
    open.pop_back();
    for (const size_t behind : arguments_needed_by(body, body.results[i])) add(behind);
  }
  std::vector<size_t> places;
  for (size_t i = 0; i < has.size(); ++i) {
    if (has[i]) places.push_back(i);
  }
  return places;
}

// The loop output that lists the values of `x`, a tensor of the body, per iteration; added if
// missing.
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
  const ControlDependencies none(outside, {}, true), none_inside(body, {}, true);
  const NameScope scope(outside, body.scope()), inside(body, body.scope());
  const Output empty = empty_list(outside, x.dtype(), x.shape());
  const Output list = body.add_argument(DType::kVariant, Shape(), "accumulator");
  cond.add_argument(DType::kVariant, Shape(), "accumulator");
  body.results.push_back(body.op("TensorListPushBack", {list, x}).attr("element_dtype", x.dtype()));
  outside.extend(op, {empty}, {{DType::kVariant, Shape()}});
  return op.output(op.num_outputs() - 1);
}

class BackwardBody {
 public:
  BackwardBody(Graph& into, Operation& op, const std::string& scope)
      : op_(op),
        forward_(function_attr(op, "body")),
        body_(std::make_shared<FuncGraph>(into, scope, "grad_body")) {
    body_->differentiates(forward_, [this](const Output& x) { return value_of(x); });
  }
  const std::shared_ptr<FuncGraph>& function() const { return body_; }
  Output next(const Output& argument) const {
    const auto found = popped_.find({argument.op, argument.index});
    return found == popped_.end() ? argument : found->second;
  }

 private:
  Output value_of(const Output& x) {
    const int i = argument_index(forward_, x);
    if (i >= 0 && stays(forward_, static_cast<size_t>(i))) return op_.input(i);
    const Output list = body_->capture(saved_values_of(op_, x));
    const ControlDependencies none(*body_, {}, true);
    const NameScope scope(*body_, body_->scope());
    Operation* pop =
        body_->op("TensorListPopBack", {list, element_shape(x)}).attr("element_dtype", x.dtype());
    pop->set_output_shape(1, x.shape());
    popped_[{list.op, list.index}] = pop->output(0);
    return pop->output(1);
  }
  Output element_shape(const Output&) { return body_->scalar(DType::kInt32, -1); }

  Operation& op_;
  const FuncGraph& forward_;
  std::shared_ptr<FuncGraph> body_;
  std::map<std::pair<Operation*, int>, Output> popped_;
};

// Accumulates the gradient of a loop-invariant argument over iterations: a sum, or concatenated
// rows. For rows of captured tensors, TensorFlow starts with one row of zeros and prepends later
// iterations.
class Accumulated {
 public:
  // `more`, a tensor of the gradient's body, is the contribution of one iteration.
  Accumulated(FuncGraph& body, const FuncGraph::Argument& argument, const Gradient& more)
      : body_(body), argument_(argument) {
    if (more.is_indexed_slices() && argument.outside) {
      more_ = Gradient(body.capture(more.values));
      more_.indices = body.capture(more.indices);
    } else {
      more_ = Gradient(body.capture(dense_gradient(body, more)));
    }
  }
  // Adds the accumulator to the loop. `initial` is optional; `like` is the argument's value.
  Gradient add_to(Operation& loop, Graph& into, const Output& initial, const Output& like) const {
    if (!more_.is_indexed_slices()) {
      const Output from = initial ? initial : zeros_for(into, argument_, like);
      return add_loop_accumulator(loop, from, gradient_shape(argument_), [this](const Output& sum) {
        return body_.op("AddN", {sum, more_.values});
      });
    }
    Gradient rows = add_loop_accumulator(loop, row_of_zeros(into, like), more_.values.shape(),
                                         appends(more_.values));
    const Output none = into.constant(Tensor::zeros(more_.indices.dtype(), {1}));
    rows.indices =
        add_loop_accumulator(loop, none, Shape::unknown_of_rank(1), appends(more_.indices));
    rows.dense_shape = shape_for(into, argument_, like);
    return rows;
  }

 private:
  using Change = std::function<Output(const Output&)>;
  Change appends(const Output& more) const {
    return [this, more](const Output& so_far) -> Output {
      return body_.op("ConcatV2", {so_far, more, body_.scalar(DType::kInt32, 0)});
    };
  }
  Output add_loop_accumulator(Operation& loop,
                              const Output& initial,
                              Shape shape,
                              const Change& change) const {
    FuncGraph& cond = function_attr(loop, "cond");
    const ControlDependencies none(body_, {}, true);
    const NameScope inside(body_, body_.scope());
    if (more_.is_indexed_slices() && shape.has_rank()) shape.set_dim(0, Shape::kUnknownDim);
    const Output so_far = body_.add_argument(initial.dtype(), shape, "accumulator");
    cond.add_argument(initial.dtype(), shape, "accumulator");
    body_.results.push_back(change(so_far));
    loop.graph().extend(loop, {initial}, {{initial.dtype(), shape}});
    return loop.output(loop.num_outputs() - 1);
  }
  Output row_of_zeros(Graph& into, const Output& like) const {
    const DType dtype = more_.values.dtype();
    Shape shape = gradient_shape(argument_);
    if (shape.has_rank() && shape.rank() > 0) shape.set_dim(0, 1);
    if (shape.is_fully_defined()) return into.constant(Tensor::zeros(dtype, shape));
    const Output rest = into.op(
        "Slice", {shape_for(into, argument_, like), into.int_vector({1}), into.int_vector({-1})});
    const Output dims =
        into.op("ConcatV2", {into.int_vector({1}), rest, into.scalar(DType::kInt32, 0)});
    return into.op("Fill", {dims, into.constant(Tensor::zeros(dtype, Shape()))});
  }

  FuncGraph& body_;
  const FuncGraph::Argument argument_;
  Gradient more_;
};

// Builds the gradient loop; its own variables are the gradients of the changing loop variables.
class LoopGradient {
 public:
  LoopGradient(Graph& into, Operation& op, const std::vector<Output>& dy)
      : into_(into),
        op_(op),
        dy_(dy),
        forward_(function_attr(op, "body")),
        scope_(into, "while"),
        backward_(into, op, scope_.name()),
        cond_(std::make_shared<FuncGraph>(into, scope_.name(), "grad_cond")),
        body_(*backward_.function()) {}

  std::vector<Gradient> of_inputs(const std::vector<size_t>& places) {
    counter_ = body_.add_argument(DType::kInt32, Shape(), "counter");
    const Output cond_counter = cond_->add_argument(DType::kInt32, Shape(), "counter");
    add_moving(places);
    const std::vector<Gradient> found = body_gradients(places);
    body_.results = {body_.op("AddV2", {counter_, body_.scalar(DType::kInt32, 1)}).named("count")};
    std::vector<std::pair<size_t, Accumulated>> staying;
    for (size_t k = 0, m = 0; k < places.size(); ++k) {
      const bool has_more = !found[k].is_none();
      if (!stays(forward_, places[k])) {
        body_.results.push_back(has_more ? body_.capture(dense_gradient(body_, found[k]))
                                         : body_.op("ZerosLike", {moving_[m]}));
        ++m;
      } else if (has_more) {
        staying.emplace_back(places[k],
                             Accumulated(body_, forward_.arguments()[places[k]], found[k]));
      }
    }
    cond_->results = {cond_->op("Less", {cond_counter, cond_->capture(op_.output(0))})};
    Operation* loop = add_loop(
        into_, initial_, cond_, backward_.function(),
        [this](const Output& argument) { return backward_.next(argument); },
        op_.attr_int("parallel_iterations"));
    std::vector<Gradient> result(op_.inputs().size());
    int output = 1;
    for (const size_t i : places) {
      result[i] = stays(forward_, i) ? initial_gradient(i) : loop->output(output++);
    }
    for (const auto& [i, more] : staying) {
      result[i] = more.add_to(*loop, into_, dy_[i], value_outside(i));
    }
    return result;
  }

 private:
  Output value_outside(size_t i) const {
    const int k = static_cast<int>(i);
    return stays(forward_, i) ? op_.input(k) : op_.output(k);
  }
  Output initial_gradient(size_t i) {
    return dy_[i] ? dy_[i] : zeros_for(into_, forward_.arguments()[i], value_outside(i));
  }
  void add_moving(const std::vector<size_t>& places) {
    initial_ = {into_.scalar(DType::kInt32, 0, "loop_counter")};
    for (const size_t i : places) {
      if (stays(forward_, i)) continue;
      const auto& argument = forward_.arguments()[i];
      const DType dtype = gradient_dtype(argument);
      const Shape shape = gradient_shape(argument);
      moving_.push_back(body_.add_argument(dtype, shape, "grad"));
      cond_->add_argument(dtype, shape, "grad");
      initial_.push_back(initial_gradient(i));
    }
  }
  std::vector<Gradient> body_gradients(const std::vector<size_t>& places) {
    std::vector<Output> ys, xs;
    for (const size_t i : places) {
      xs.push_back(forward_.argument(i));
      if (!stays(forward_, i)) ys.push_back(forward_.results[i]);
    }
    if (ys.empty()) return std::vector<Gradient>(xs.size());
    return gradients(body_, ys, xs, moving_, {}, "gradients");
  }

  Graph& into_;
  Operation& op_;
  const std::vector<Output>& dy_;
  const FuncGraph& forward_;
  const NameScope scope_;
  BackwardBody backward_;
  const std::shared_ptr<FuncGraph> cond_;
  FuncGraph& body_;
  Output counter_;
  // Variables of the gradient loop, and their gradients inside the body.
  std::vector<Output> initial_, moving_;
};

}  // namespace

std::vector<Gradient> while_gradient(Graph& into,
                                     Operation& op,
                                     const std::vector<Output>& all_dy) {
  const FuncGraph& forward = function_attr(op, "body");
  std::vector<Output> dy = all_dy;
  for (size_t i = 0; i < dy.size(); ++i) {
    if (dy[i] && !may_have_gradient(forward.arguments()[i])) dy[i] = Output();
  }
  const std::vector<size_t> places = arguments_with_gradient(forward, dy);
  if (places.empty()) return std::vector<Gradient>(op.inputs().size());
  return LoopGradient(into, op, dy).of_inputs(places);
}

}  // namespace runhooks
