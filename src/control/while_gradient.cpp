// The gradient of a loop: a loop of as many iterations that goes backwards. What the body's
// gradient needs of an iteration, the loop itself is made to keep in lists, from which the gradient
// takes it again: the numbers are those that were computed, random ones as well.
#include <algorithm>
#include <map>

#include "autodiff/gradients.h"
#include "control/functions.h"
#include "control/while_op.h"

namespace runhooks {

namespace {

// The arguments of the body that a result depends on.
std::vector<size_t> arguments_behind(const FuncGraph& body, const Output& result) {
  std::vector<const Operation*> open = {result.op};
  std::vector<bool> seen(body.operations().size(), false);
  while (!open.empty()) {
    const Operation* op = open.back();
    open.pop_back();
    const auto id = static_cast<size_t>(op->id());
    if (seen[id]) continue;
    seen[id] = true;
    for (const Output& input : op->inputs()) open.push_back(input.op);
  }
  std::vector<size_t> behind;
  for (size_t i = 0; i < body.arguments().size(); ++i) {
    if (seen[static_cast<size_t>(body.argument(i).op->id())]) behind.push_back(i);
  }
  return behind;
}

// The arguments that have a gradient when these results have one, after any number of iterations.
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
    for (const size_t behind : arguments_behind(body, body.results[i])) add(behind);
  }
  std::vector<size_t> places;
  for (size_t i = 0; i < has.size(); ++i) {
    if (has[i]) places.push_back(i);
  }
  return places;
}

// The loop's output that is the list of what `x`, a tensor of its body, was in each iteration.
Output kept_by_iteration(Operation& op, const Output& x) {
  FuncGraph &body = function_attr(op, "body"), &cond = function_attr(op, "cond");
  for (size_t i = 0; i < body.results.size(); ++i) {
    // only what appends takes a list and a tensor, and gives a list
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

// The gradient's body in the making.
class BackwardBody {
 public:
  BackwardBody(Graph& into, Operation& op, const std::string& scope)
      : op_(op),
        forward_(function_attr(op, "body")),
        body_(std::make_shared<FuncGraph>(into, scope, "grad_body")) {
    body_->differentiates(forward_, [this](const Output& x) { return value_of(x); });
  }
  const std::shared_ptr<FuncGraph>& function() const { return body_; }
  // What a captured list is for the iteration before.
  Output next(const Output& argument) const {
    const auto found = popped_.find({argument.op, argument.index});
    return found == popped_.end() ? argument : found->second;
  }

 private:
  Output value_of(const Output& x) {
    const int i = argument_index(forward_, x);
    if (i >= 0 && stays(forward_, static_cast<size_t>(i))) return op_.input(i);
    const Output list = body_->capture(kept_by_iteration(op_, x));
    const ControlDependencies none(*body_, {}, true);
    const NameScope scope(*body_, body_->scope());
    Operation* pop =
        body_->op("TensorListPopBack", {list, element_shape(x)}).attr("element_dtype", x.dtype());
    pop->set_output_shape(1, x.shape());
    popped_[{list.op, list.index}] = pop->output(0);
    return pop->output(1);
  }
  // Lists know what is in them.
  Output element_shape(const Output&) { return body_->scalar(DType::kInt32, -1); }

  Operation& op_;
  const FuncGraph& forward_;
  std::shared_ptr<FuncGraph> body_;
  std::map<std::pair<Operation*, int>, Output> popped_;
};

// What an iteration adds to the gradient of each of these arguments, and hands on.
std::vector<Output> body_gradients(FuncGraph& backward,
                                   const FuncGraph& forward,
                                   const std::vector<size_t>& places,
                                   const std::vector<Output>& dy) {
  std::vector<Output> ys, grad_ys, xs;
  for (size_t k = 0; k < places.size(); ++k) {
    xs.push_back(forward.argument(places[k]));
    if (stays(forward, places[k])) continue;
    ys.push_back(forward.results[places[k]]);
    grad_ys.push_back(dy[k]);
  }
  std::vector<Gradient> found(xs.size());
  if (!ys.empty()) found = gradients(backward, ys, xs, grad_ys, {}, "gradients");
  std::vector<Output> results;
  for (size_t k = 0; k < places.size(); ++k) {
    const bool has_more = !found[k].is_none();
    const Output more = has_more ? backward.capture(dense_gradient(backward, found[k])) : Output();
    if (!stays(forward, places[k])) {
      results.push_back(has_more ? more : backward.op("ZerosLike", {dy[k]}));
    } else {
      results.push_back(has_more ? backward.op("AddN", {dy[k], more}) : dy[k]);
    }
  }
  return results;
}

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
  const NameScope scope(into, "while");
  BackwardBody backward(into, op, scope.name());
  const auto cond = std::make_shared<FuncGraph>(into, scope.name(), "grad_cond");
  FuncGraph& body = *backward.function();
  const Output counter = body.add_argument(DType::kInt32, Shape(), "counter");
  const Output cond_counter = cond->add_argument(DType::kInt32, Shape(), "counter");
  std::vector<Output> initial = {into.scalar(DType::kInt32, 0, "loop_counter")}, arguments;
  for (const size_t i : places) {
    const auto& argument = forward.arguments()[i];
    const DType dtype = gradient_dtype(argument);
    const Shape shape = gradient_shape(argument);
    arguments.push_back(body.add_argument(dtype, shape, "grad"));
    cond->add_argument(dtype, shape, "grad");
    const int k = static_cast<int>(i);
    const Output like = stays(forward, i) ? op.input(k) : op.output(k);
    initial.push_back(dy[i] ? dy[i] : zeros_for(into, argument, like));
  }
  const std::vector<Output> results = body_gradients(body, forward, places, arguments);
  body.results = {body.op("AddV2", {counter, body.scalar(DType::kInt32, 1)}).named("count")};
  body.results.insert(body.results.end(), results.begin(), results.end());
  cond->results = {cond->op("Less", {cond_counter, cond->capture(op.output(0))})};
  Operation* loop = add_loop(
      into, initial, cond, backward.function(),
      [&backward](const Output& argument) { return backward.next(argument); },
      op.attr_int("parallel_iterations"));
  std::vector<Gradient> result(op.inputs().size());
  for (size_t k = 0; k < places.size(); ++k) {
    result[places[k]] = loop->output(static_cast<int>(k) + 1);
  }
  return result;
}

}  // namespace runhooks
