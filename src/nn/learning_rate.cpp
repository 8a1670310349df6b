// Learning rates that depend on the global step (tf.train.exponential_decay and similar). Each
// function returns a tensor of the rate's type, float32 if the rate is a number.
#include <cmath>

#include "graph/graph_function.h"
#include "nn/initializer.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

constexpr double kPi = 3.14159265358979323846;

// Arithmetic on the arguments of a decay function. All tensors have the rate's type.
class Decay {
 public:
  Decay(Graph& graph, const Args& args) : graph_(graph), args_(args) {
    const Output rate = tensor_argument(graph_, args_, "learning_rate", DType::kFloat32);
    if (is_floating(rate.dtype())) dtype_ = rate.dtype();
    rate_ = cast(graph_, rate, dtype_);
  }

  Output rate() const { return rate_; }
  Output step() const {
    return cast(graph_, tensor_argument(graph_, args_, "global_step", DType::kInt64), dtype_);
  }
  // Steps may be fractional, so they are not converted to integers.
  Output tensor(const char* name) const {
    return cast(graph_, tensor_argument(graph_, args_, name, DType::kFloat32), dtype_);
  }
  Output number(double x) const { return graph_.scalar(dtype_, x); }
  Output to_dtype(Output x) const { return cast(graph_, x, dtype_); }
  bool flag(const char* name) const { return args_.flag(name, false); }

  Output plus(Output a, Output b) const { return add(graph_, a, b); }
  Output minus(Output a, Output b) const { return subtract(graph_, a, b); }
  Output times(Output a, Output b) const { return multiply(graph_, a, b); }
  Output divided_by(Output a, Output b) const { return divide(graph_, a, b); }
  Output call(const char* type, Output x) const { return graph_.op(type, {x}); }
  Output call(const char* type, Output a, Output b) const { return graph_.op(type, {a, b}); }
  Output select(Output condition, Output a, Output b) const {
    return graph_.op("SelectV2", {condition, a, b});
  }
  // Computes (1 + cos(pi * x)) / 2, which falls from 1 to 0 as x grows from 0 to 1.
  Output cosine(Output x) const {
    const Output cosine_wave = call("Cos", times(number(kPi), x));
    return times(number(0.5), plus(number(1), cosine_wave));
  }
  // Computes (1 - floor) * x + floor, where `floor` is the argument named by `alpha`.
  Output scaled_above(const char* alpha, Output x) const {
    const Output floor = tensor(alpha);
    return plus(times(minus(number(1), floor), x), floor);
  }

 private:
  Graph& graph_;
  const Args& args_;
  DType dtype_ = DType::kFloat32;
  Output rate_;
};

// Computes global_step / decay_steps, rounded down if `staircase`.
Output elapsed_periods(const Decay& d) {
  const Output p = d.divided_by(d.step(), d.tensor("decay_steps"));
  return d.flag("staircase") ? d.call("Floor", p) : p;
}

Value exponential_decay(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "ExponentialDecay"));
  const Decay d(graph, args);
  return Value::of(d.times(d.rate(), d.call("Pow", d.tensor("decay_rate"), elapsed_periods(d))));
}

Value natural_exp_decay(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "NaturalExpDecay"));
  const Decay d(graph, args);
  const Output exponent = d.times(d.call("Neg", d.tensor("decay_rate")), elapsed_periods(d));
  return Value::of(d.times(d.rate(), d.call("Exp", exponent)));
}

Value inverse_time_decay(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "InverseTimeDecay"));
  const Decay d(graph, args);
  const Output divisor = d.plus(d.number(1), d.times(d.tensor("decay_rate"), elapsed_periods(d)));
  return Value::of(d.divided_by(d.rate(), divisor));
}

Value polynomial_decay(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "PolynomialDecay"));
  const Decay d(graph, args);
  Output step = d.step(), steps = d.tensor("decay_steps");
  if (d.flag("cycle")) {
    const Output is_first = d.call("Equal", step, d.number(0));
    const Output cycles = d.call("Ceil", d.divided_by(step, steps));
    steps = d.times(steps, d.select(is_first, d.number(1), cycles));
  } else {
    step = d.call("Minimum", step, steps);
  }
  const Output end = d.tensor("end_learning_rate");
  const Output remaining = d.minus(d.number(1), d.divided_by(step, steps));
  const Output decayed = d.call("Pow", remaining, d.tensor("power"));
  return Value::of(d.plus(d.times(d.minus(d.rate(), end), decayed), end));
}

Value piecewise_constant(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "PiecewiseConstant"));
  const Output x = tensor_argument(graph, args, "x", DType::kInt64);
  const ValueList boundaries = values_argument(args, "boundaries");
  const ValueList values = values_argument(args, "values");
  if (boundaries.size() + 1 != values.size()) {
    invalid_argument("The length of boundaries should be 1 less than the length of values; got ",
                     boundaries.size(), " and ", values.size(), ".");
  }
  double before = -INFINITY;
  Output result = tensor_of_value(graph, values.back(), "values", DType::kFloat32);
  for (size_t i = 0; i < boundaries.size(); ++i) {
    double boundary;
    if (!value_number(boundaries[i], &boundary)) continue;
    if (boundary <= before) {
      invalid_argument("`boundaries` must increase, but ", boundary, " follows ", before, ".");
    }
    before = boundary;
  }
  for (size_t i = boundaries.size(); i-- > 0;) {
    const Output boundary =
        cast(graph, tensor_of_value(graph, boundaries[i], "boundaries", x.dtype()), x.dtype());
    const Output value = tensor_of_value(graph, values[i], "values", DType::kFloat32);
    result = graph.op("SelectV2", {graph.op("LessEqual", {x, boundary}), value, result});
  }
  return Value::of(result);
}

Value cosine_decay(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "CosineDecay"));
  const Decay d(graph, args);
  const Output steps = d.tensor("decay_steps");
  const Output completed = d.divided_by(d.call("Minimum", d.step(), steps), steps);
  return Value::of(d.times(d.rate(), d.scaled_above("alpha", d.cosine(completed))));
}

Value cosine_decay_restarts(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "SGDRDecay"));
  const Decay d(graph, args);
  const Output one = d.number(1), t_mul = d.tensor("t_mul");
  const Output completed = d.divided_by(d.step(), d.tensor("first_decay_steps"));
  Output restart, fraction;
  if (args.find("t_mul") && args.find("t_mul")->get_if<double>() && args.number("t_mul") == 1) {
    restart = d.call("Floor", completed);
    fraction = d.minus(completed, restart);
  } else {
    // The lengths of the periods form a geometric series. Its inverted sum gives the period.
    const Output total_growth = d.minus(one, d.times(completed, d.minus(one, t_mul)));
    restart = d.call("Floor", d.divided_by(d.call("Log", total_growth), d.call("Log", t_mul)));
    const Output length = d.call("Pow", t_mul, restart);
    const Output begin = d.divided_by(d.minus(one, length), d.minus(one, t_mul));
    fraction = d.divided_by(d.minus(completed, begin), length);
  }
  const Output restart_rate = d.call("Pow", d.tensor("m_mul"), restart);
  return Value::of(
      d.times(d.rate(), d.scaled_above("alpha", d.times(restart_rate, d.cosine(fraction)))));
}

// Linear cosine decay, optionally with the noise of tf.train.noisy_linear_cosine_decay.
template <bool kIsNoisy>
Value linear_cosine_decay(Graph& graph, const Args& args) {
  const NameScope scope(
      graph, args.text("name", kIsNoisy ? "NoisyLinearCosineDecay" : "LinearCosineDecay"));
  const Decay d(graph, args);
  const Output steps = d.tensor("decay_steps");
  const Output step = d.call("Minimum", d.step(), steps);
  Output linear = d.divided_by(d.minus(steps, step), steps);
  if (kIsNoisy) {
    const Output variance_divisor =
        d.call("Pow", d.plus(d.number(1), step), d.tensor("variance_decay"));
    const Output deviation =
        d.call("Sqrt", d.divided_by(d.tensor("initial_variance"), variance_divisor));
    const Output noise = d.to_dtype(random_normal(graph, shape_of(graph, linear)));
    linear = d.plus(linear, d.times(noise, deviation));
  }
  const Output completed = d.divided_by(step, steps);
  const Output fraction = d.times(d.times(d.number(2), d.tensor("num_periods")), completed);
  const Output product = d.times(d.plus(d.tensor("alpha"), linear), d.cosine(fraction));
  return Value::of(d.times(d.rate(), d.plus(product, d.tensor("beta"))));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "train.exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase = "
    "FALSE, name = NULL)",
    "learning_rate * decay_rate ^ (global_step / decay_steps).",
    exponential_decay);
RUNHOOKS_REGISTER_FUNCTION(
    "train.natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase = "
    "FALSE, name = NULL)",
    "learning_rate * exp(-decay_rate * global_step / decay_steps).",
    natural_exp_decay);
RUNHOOKS_REGISTER_FUNCTION(
    "train.inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase = "
    "FALSE, name = NULL)",
    "learning_rate / (1 + decay_rate * global_step / decay_steps).",
    inverse_time_decay);
RUNHOOKS_REGISTER_FUNCTION(
    "train.polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate = 1e-04, "
    "power = 1, cycle = FALSE, name = NULL)",
    "Decays from learning_rate to end_learning_rate by a polynomial.",
    polynomial_decay);
RUNHOOKS_REGISTER_FUNCTION(
    "train.piecewise_constant, train.piecewise_constant_decay(x, boundaries, values, name = NULL)",
    "The value for the interval that contains x.",
    piecewise_constant);
RUNHOOKS_REGISTER_FUNCTION(
    "train.cosine_decay(learning_rate, global_step, decay_steps, alpha = 0, name = NULL)",
    "Decays from learning_rate to alpha * learning_rate along half a cosine wave.",
    cosine_decay);
RUNHOOKS_REGISTER_FUNCTION(
    "train.cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul = 2, m_mul = "
    "1, alpha = 0, name = NULL)",
    "Cosine decay that restarts after each period.",
    cosine_decay_restarts);
RUNHOOKS_REGISTER_FUNCTION(
    "train.linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods = 0.5, alpha = "
    "0, beta = 0.001, name = NULL)",
    "Linear decay multiplied by a cosine wave.",
    linear_cosine_decay<false>);
RUNHOOKS_REGISTER_FUNCTION(
    "train.noisy_linear_cosine_decay(learning_rate, global_step, decay_steps, initial_variance = "
    "1, variance_decay = 0.55, num_periods = 0.5, alpha = 0, beta = 0.001, name = NULL)",
    "Linear cosine decay with Gaussian noise.",
    linear_cosine_decay<true>);

}  // namespace runhooks
