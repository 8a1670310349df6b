// tf.while_loop: a While op, which runs a body function while a condition function returns TRUE.
// Its arguments, in order: iteration counter, loop variables, captured tensors, and lists in which
// intermediate values are saved for the gradient.
#include <chrono>

#include "base/interrupt.h"
#include "control/control_flow.h"
#include "control/functions.h"
#include "control/while_op.h"

namespace runhooks {

bool is_loop_invariant(const FuncGraph& body, size_t i) {
  return body.results[i] == body.argument(i);
}

namespace {

// An interrupt of a loop that updates variables leaves them inconsistent. So the interrupt is
// checked only after 50 ms, to let short loops finish.
class DelayedInterrupt {
 public:
  void operator()() const {
    if (Clock::now() - start_ > std::chrono::milliseconds(50)) check_interrupt_throttled();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

class WhileKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    if (!body_) make_runners(c);
    const auto n = static_cast<size_t>(c.num_outputs());
    values_.clear();
    for (size_t i = 0; i < n; ++i) values_.push_back(&c.input(static_cast<int>(i)));
    const DelayedInterrupt delayed_interrupt;
    while (evaluate_condition()) {
      if (can_cancel_) {
        check_interrupt();
      } else {
        check_cancel_flag();
        delayed_interrupt();
      }
      body_->run(values_);
      for (size_t k = 0; k < changing_.size(); ++k) values_[changing_[k]] = &body_->result(k);
    }
    for (const size_t i : returned_) set_output_value(c, static_cast<int>(i), *values_[i]);
  }

 private:
  bool evaluate_condition() {
    cond_->run(values_);
    const Tensor& result = cond_->result(0);
    if (result.num_elements() != 1) {
      invalid_argument("The condition of a loop must be one bool, not of shape ", result.shape(),
                       ".");
    }
    return *result.data<bool>();
  }
  void make_runners(KernelContext& c) {
    const FuncGraph &cond = function_attr(c.op(), "cond"), &body = function_attr(c.op(), "body");
    const bool has_no_updates = !changes_variables(cond) && !changes_variables(body);
    std::vector<Output> fetches;
    std::vector<bool> shared;
    for (size_t i = 0; i < static_cast<size_t>(c.num_outputs()); ++i) {
      const bool is_capture = static_cast<bool>(body.arguments()[i].outside);
      shared.push_back(has_no_updates && is_loop_invariant(body, i));
      // No op reads the output of an unchanged capture; ops read the captured tensor directly.
      if (!is_capture || !is_loop_invariant(body, i)) returned_.push_back(i);
      if (is_loop_invariant(body, i)) continue;
      changing_.push_back(i);
      fetches.push_back(body.results[i]);
    }
    shared.resize(body.arguments().size());
    can_cancel_ = has_no_updates;
    cond_ = std::make_unique<FunctionRunner>(cond, cond.results, shared, c.resources());
    body_ = std::make_unique<FunctionRunner>(body, fetches, shared, c.resources());
  }

  std::unique_ptr<FunctionRunner> cond_, body_;
  std::vector<size_t> changing_;  // arguments that the body changes
  std::vector<size_t> returned_;  // outputs that may be read
  std::vector<const Tensor*> values_;
  bool can_cancel_ = false;
};

void while_shape(ShapeContext& c) {
  const FuncGraph& body = function_attr(c.op(), "body");
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    c.set_output(static_cast<int>(i), body.argument(i).shape());
  }
}

void check_variable(const Output& variable, const Output& argument, const Output& result) {
  if (result.dtype() != variable.dtype()) {
    invalid_argument("Variable '", variable.name(), "' enters the loop as ",
                     dtype_name(variable.dtype()), ", but is ", dtype_name(result.dtype()),
                     " after one iteration.");
  }
  const Shape &declared = argument.shape(), &actual = result.shape();
  bool is_compatible = declared.is_compatible_with(actual);
  if (declared.has_rank() && !actual.has_rank()) is_compatible = true;  // checked at run time
  if (is_compatible) return;
  throw Error(
      Code::kInvalidArgument,
      str_cat("The shape for ", variable.name(),
              " is not an invariant for the loop. It enters the "
              "loop with shape ",
              declared.to_string(), ", but has shape ", actual.to_string(),
              " after one iteration."),
      {"Provide shape invariants using either the `shape_invariants` argument of tf$while_loop() "
       "or set_shape() on the loop variables."});
}

std::vector<Output> variables_of(const std::vector<Output>& arguments) {
  return std::vector<Output>(arguments.begin() + 1, arguments.end());
}

}  // namespace

Operation* add_loop(Graph& graph,
                    const std::vector<Output>& initial,
                    const std::shared_ptr<FuncGraph>& cond,
                    const std::shared_ptr<FuncGraph>& body,
                    const std::function<Output(const Output&)>& next,
                    int64_t parallel_iterations) {
  const std::vector<FuncGraph*> functions = {cond.get(), body.get()};
  FuncGraph::unify_captures(functions, initial.size());
  std::vector<Output> inputs = initial;
  std::vector<DType> types;
  for (size_t i = initial.size(); i < body->arguments().size(); ++i) {
    inputs.push_back(body->arguments()[i].outside);
    const Output argument = body->argument(i);
    body->results.push_back(next ? next(argument) : argument);
  }
  std::vector<Shape> shapes;
  for (const auto& argument : body->arguments()) shapes.push_back(argument.inside.shape());
  const bool is_stateful = is_stateful_function(*cond) || is_stateful_function(*body);
  return graph.op(is_stateful ? "While" : "StatelessWhile", inputs)
      .attr("cond", FunctionPtr(cond))
      .attr("body", FunctionPtr(body))
      .attr("output_shapes", shapes)
      .attr("parallel_iterations", parallel_iterations)
      .attr("_lower_using_switch_merge", true)
      .named("While")
      .after(outer_control_inputs_of(functions));
}

std::vector<Output> add_while(Graph& graph,
                              const FunctionBuilder& cond_fn,
                              const FunctionBuilder& body_fn,
                              std::vector<Output> variables,
                              const LoopOptions& options) {
  const NameScope scope(graph, options.name);
  const auto cond = std::make_shared<FuncGraph>(graph, scope.name(), "cond");
  const auto body = std::make_shared<FuncGraph>(graph, scope.name(), "body");
  std::vector<Output> initial = {graph.scalar(DType::kInt32, 0, "loop_counter")};
  std::vector<Output> cond_arguments = {cond->add_argument(DType::kInt32, Shape(), "counter")};
  std::vector<Output> body_arguments = {body->add_argument(DType::kInt32, Shape(), "counter")};
  for (size_t i = 0; i < variables.size(); ++i) {
    if (FuncGraph::is_resource_handle(variables[i]))
      variables[i] = graph.op("Identity", {variables[i]});
    initial.push_back(variables[i]);
    const bool has_invariant = i < options.shape_invariants.size();
    const Shape& shape = has_invariant ? options.shape_invariants[i] : variables[i].shape();
    if (!shape.is_compatible_with(variables[i].shape())) {
      invalid_argument("The shape invariant specified for ", variables[i].name(),
                       " is not compatible with the initial shape of the loop variable. It enters "
                       "the loop with shape ",
                       variables[i].shape(), ", but the specified shape invariant is ", shape, ".");
    }
    cond_arguments.push_back(cond->add_argument(variables[i].dtype(), shape, "Merge"));
    body_arguments.push_back(body->add_argument(variables[i].dtype(), shape, "Identity"));
  }
  cond->results = capture_results(*cond, cond_fn(*cond, variables_of(cond_arguments)));
  const bool is_bool = cond->results.size() == 1 && cond->results[0].dtype() == DType::kBool;
  if (!is_bool) invalid_argument("`cond` of a loop must return one bool.");
  if (options.maximum_iterations) {
    const Output is_below_limit =
        cond->op("Less", {cond_arguments[0], options.maximum_iterations}).named("Less_max");
    cond->results[0] = cond->op("LogicalAnd", {is_below_limit, cond->results[0]});
  }
  const std::vector<Output> results =
      capture_results(*body, body_fn(*body, variables_of(body_arguments)));
  if (results.size() != variables.size()) {
    invalid_argument("`body` of a loop must return as many values as there are loop variables, ",
                     variables.size(), ", not ", results.size(), ".");
  }
  const Output one = body->scalar(DType::kInt32, 1, "one");
  body->results = {body->op("AddV2", {body_arguments[0], one}).named("count")};
  for (size_t i = 0; i < variables.size(); ++i) {
    check_variable(variables[i], body_arguments[i + 1], results[i]);
    body->results.push_back(results[i]);
  }
  Operation* loop = add_loop(graph, initial, cond, body, {}, options.parallel_iterations);
  std::vector<Output> exits;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Output value = loop->output(static_cast<int>(i) + 1);
    exits.push_back(graph.op("Identity", {value}).named("Exit"));
  }
  return exits;
}

#define RUNHOOKS_WHILE_OP(type)                \
  RUNHOOKS_REGISTER_OP(type)                   \
      .input("input: T, or handle")            \
      .output("output: T")                     \
      .attr("T: list(type) >= 0")              \
      .attr("cond: func")                      \
      .attr("body: func")                      \
      .attr("output_shapes: list(shape) = []") \
      .attr("parallel_iterations: int = 10")   \
      .shape(while_shape)                      \
      .kernel(kernel_of<WhileKernel>())        \
      .allocates_outputs()                     \
      .calls_functions()                       \
      .gradient(while_gradient)                \
      .endpoint("raw_ops." type)

RUNHOOKS_WHILE_OP("StatelessWhile").summary("Runs a loop without side effects.");
RUNHOOKS_WHILE_OP("While").stateful().summary("Runs a loop.");

}  // namespace runhooks
