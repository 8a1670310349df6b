// Limited-memory BFGS (Liu and Nocedal 1989), with the L1 penalty of OWL-QN (Andrew and Gao 2007).
// A training step evaluates one trial point of the line search, then accepts it or shortens the
// step. The line search uses only gradients, because float32 losses are too inaccurate. All ops are
// TensorFlow's; they compute in float64.
#include <algorithm>
#include <cmath>

#include "graph/endpoints.h"
#include "graph/gauss_newton.h"
#include "graph/indexed_slices.h"
#include "nn/replicas.h"
#include "ops/state/gradient_helpers.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

constexpr DType kDtype = DType::kFloat64;

// Builds float64 expressions of vectors and scalars.
class Expressions {
 public:
  explicit Expressions(Graph& graph) : g(graph) {}
  Output constant(double x) { return g.scalar(kDtype, x); }
  Output sum(Output x) { return g.op("Sum", {x, g.int_vector({0})}); }
  Output dot(Output a, Output b) { return sum(multiply(g, a, b)); }
  Output norm(Output x) { return g.op("Sqrt", {dot(x, x)}); }
  Output max_abs(Output x) { return g.op("Max", {g.op("Abs", {x}), g.int_vector({0})}); }
  Output select(Output holds, Output a, Output b) { return g.op("SelectV2", {holds, a, b}); }
  Output less(Output a, Output b) { return g.op("Less", {a, b}); }
  Output both(Output a, Output b) { return g.op("LogicalAnd", {a, b}); }
  Output either(Output a, Output b) { return g.op("LogicalOr", {a, b}); }
  Output negate(Output a) { return g.op("LogicalNot", {a}); }
  Output minimum(Output a, Output b) { return g.op("Minimum", {a, b}); }
  Output maximum(Output a, Output b) { return g.op("Maximum", {a, b}); }
  Output quotient(Output a, Output b) { return g.op("DivNoNan", {a, b}); }
  std::vector<Output> rows(Output x, int64_t n) {
    Operation* unpacked = g.op("Unpack", {x}).attr("num", n).attr("axis", 0);
    std::vector<Output> result;
    for (int i = 0; i < n; ++i) result.push_back(unpacked->output(i));
    return result;
  }
  Output stack(const std::vector<Output>& rows) { return g.op("Pack", rows).attr("axis", 0); }
  Graph& g;
};

// The correction pairs of L-BFGS, newest first: the last steps of the weights, and the changes of
// the gradient in these steps. `rho` is 1 / dot(step, change), or 0 for an unused pair.
struct History {
  std::vector<Output> steps, changes, rho;
  Output scale;  // factor of the initial inverse Hessian, which is diagonal
};

class Lbfgs : public Optimizer {
 public:
  explicit Lbfgs(const Args& args)
      : Optimizer(args.text("name", "LBFGS"), args),
        num_pairs_(args.integer("num_correction_pairs", 10)),
        tolerance_(args.number("tolerance", 1e-6)),
        l1_(args.number("l1_regularization_strength", 0)),
        l2_(args.number("l2_regularization_strength", 0)),
        penalizes_bias_(args.flag("penalize_bias", true)) {}

  bool needs_all_rows() const override { return true; }
  std::vector<VariablePtr> non_slot_variables() const override { return state_; }
  std::vector<std::string> penalty_arguments() const override {
    return {"l1_regularization_strength", "l2_regularization_strength"};
  }

 protected:
  void create_slots(Graph&, const VariablePtr& variable) override {
    if (state_.empty()) size_ += variable->shape.num_elements();
  }
  void create_non_slot_variables(Graph& graph, const VariablePtr& first) override;
  void prepare(Graph& graph) override {
    // Hooks may report or change the learning rate of a graph. So the rate is created only if it
    // has an effect: L-BFGS steps on the full data ignore it.
    if (!is_full_batch(graph)) learning_rate_ = hyperparameter(graph, "learning_rate", 0.2);
    gradients_.clear();
  }
  // Stores the gradient. finish() updates all variables together.
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    if (variable.constraint) {
      fail(Code::kUnimplemented, "LBFGS cannot train '", variable.name(),
           "', which has a constraint.");
    }
    gradients_.push_back({&variable, dense_gradient(graph, gradient)});
    return gradients_.back().second.op;
  }
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override;

 private:
  enum StateVariable { kPoint, kGradient, kDirection, kSteps, kChanges, kRho, kScalars, kSquares };
  static constexpr int kMaxRejected = 12;
  // A step is accepted if the slope of the loss at its end is at most this fraction of the absolute
  // slope at its start. The end may be slightly behind the minimum.
  static constexpr double kMaxSlopeRatio = 0.25;

  Output state(StateVariable which) const { return state_[static_cast<size_t>(which)]->snapshot; }
  static bool is_full_batch(const Graph& graph);
  Output flatten(Expressions& f, const std::vector<Output>& parts) const;
  Output curvature(Expressions& f) const;
  Output penalty(Expressions& f, double strength) const;
  Output pseudo_gradient(Expressions& f, Output x, Output gradient) const;
  Output project_to_orthant(Expressions& f, Output next, Output point, Output slope) const;
  History updated_history(
      Expressions& f, Output accepts_pair, Output restarts, Output step, Output change) const;
  Output direction(Expressions& f, const History& history, Output gradient) const;
  Output full_batch_step(Expressions& f,
                         Output x,
                         Output gradient,
                         std::vector<Output>* next) const;
  Output mini_batch_step(Expressions& f,
                         Output x,
                         Output gradient,
                         std::vector<Output>* next) const;

  int64_t num_pairs_, size_ = 0;
  double tolerance_, l1_, l2_;
  bool penalizes_bias_;
  Output learning_rate_;
  std::vector<VariablePtr> state_;
  std::vector<std::pair<const Variable*, Output>> gradients_;
  mutable Output curvature_;
};

void Lbfgs::create_non_slot_variables(Graph& graph, const VariablePtr& first) {
  if (!state_.empty()) return;
  VariableOptions options;
  options.dtype = kDtype;
  options.trainable = false;
  options.use_resource = first->is_resource;
  const auto add = [&](const char* name, const Shape& shape, double value) {
    options.initializer = [value](Graph& g, const Shape& s, DType dtype) -> Output {
      const Tensor dims = Tensor::vector<int64_t>(s.dims());
      return g.op("Fill", {g.constant(dims, "shape"), g.scalar(dtype, value, "value")});
    };
    std::string unique = str_cat(this->name(), "/", name);
    for (int i = 1; graph.variables().find(graph.variables().full_name(unique)); ++i) {
      unique = str_cat(this->name(), "_", i, "/", name);
    }
    state_.push_back(graph.variables().get(unique, shape, options));
  };
  const Shape vector{size_}, pairs{num_pairs_, size_};
  add("point", vector, 0);
  add("gradient", vector, 0);
  add("direction", vector, 0);
  add("steps", pairs, 0);
  add("changes", pairs, 0);
  add("rho", Shape{num_pairs_}, 0);
  // Four numbers: the step length, the number of rejected trials, a flag that is 1 after the first
  // step, and the scale of the initial inverse Hessian.
  add("numbers", Shape{4}, 0);
  add("squares", vector, 0.1);
}

// True if each step has the same data. Input functions that return all rows in each batch add the
// endpoint "all_rows". A graph without an iterator always has the same data.
bool Lbfgs::is_full_batch(const Graph& graph) {
  if (!endpoint(graph, "all_rows").empty()) return true;
  for (const auto& op : graph.root().operations()) {
    for (const ArgDef& input : op->def().inputs) {
      if (input.handle_of == "iterator") return false;
    }
  }
  return true;
}

Output Lbfgs::flatten(Expressions& f, const std::vector<Output>& parts) const {
  std::vector<Output> vectors;
  for (const Output& part : parts) {
    const Output vector = f.g.op("Reshape", {part, f.g.int_vector({-1})});
    vectors.push_back(cast(f.g, vector, kDtype));
  }
  if (vectors.size() == 1) return vectors[0];
  vectors.push_back(f.g.scalar(DType::kInt32, 0, "axis"));
  return f.g.op("ConcatV2", vectors);
}

// Returns the diagonal of the Gauss-Newton matrix, summed over replicas. Elements that are unknown
// or 0 are set to 1.
Output Lbfgs::curvature(Expressions& f) const {
  std::vector<Output> parts;
  for (const auto& part : gradients_) {
    const Output diagonal = gauss_newton_diagonal(f.g, *part.first);
    parts.push_back(diagonal ? diagonal : Output(f.g.op("ZerosLike", {part.second})));
  }
  // The curvature is 0 for weights that no output depends on, such as those of an unused category.
  const Output sum = sum_over_replicas(f.g, flatten(f, parts));
  return f.select(f.less(f.constant(0), sum), sum, ones_like(f.g, sum));
}

// True if the variable has TensorFlow's name for the bias of a linear model or a dense layer.
bool is_bias(const Variable& variable) {
  const std::string name = "/" + variable.save_name();
  for (const std::string end : {"/bias", "/bias_weights"}) {
    if (name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) {
      return true;
    }
  }
  return false;
}

// Returns the strength of a penalty for each weight; a scalar if biases have the same penalty.
Output Lbfgs::penalty(Expressions& f, double strength) const {
  if (penalizes_bias_) return f.constant(strength);
  std::vector<double> strengths;
  for (const auto& part : gradients_) {
    const auto size = static_cast<size_t>(part.first->shape.num_elements());
    strengths.insert(strengths.end(), size, is_bias(*part.first) ? 0 : strength);
  }
  return f.g.constant(Tensor::vector<double>(strengths), "penalty");
}

// Returns the pseudo-gradient of loss + l1 |x|. Where x is 0, it is the one-sided derivative in the
// direction of descent, or 0 if the sum increases in both directions.
Output Lbfgs::pseudo_gradient(Expressions& f, Output x, Output gradient) const {
  if (l1_ == 0) return gradient;
  const Output l1 = penalty(f, l1_);
  const Output away_from_zero = add(f.g, gradient, multiply(f.g, l1, f.g.op("Sign", {x})));
  const Output size = f.maximum(subtract(f.g, f.g.op("Abs", {gradient}), l1), f.constant(0));
  const Output at_zero = multiply(f.g, size, f.g.op("Sign", {gradient}));
  return f.select(f.g.op("Equal", {x, f.constant(0)}), at_zero, away_from_zero);
}

// Sets elements of `next` to 0 if the step from `point` has changed their sign.
Output Lbfgs::project_to_orthant(Expressions& f, Output next, Output point, Output slope) const {
  if (l1_ == 0) return next;
  const Output at_zero = f.g.op("Equal", {point, f.constant(0)});
  const Output orthant = f.select(at_zero, negative(f.g, slope), point);
  Output keeps_sign = f.less(f.constant(0), multiply(f.g, next, orthant));
  if (!penalizes_bias_) {
    keeps_sign = f.either(keeps_sign, f.g.op("Equal", {penalty(f, l1_), f.constant(0)}));
  }
  return f.select(keeps_sign, next, f.g.op("ZerosLike", {next}));
}

// Adds the pair (step, change) if `accepts_pair`. Clears all pairs if `restarts`.
History Lbfgs::updated_history(
    Expressions& f, Output accepts_pair, Output restarts, Output step, Output change) const {
  History old{f.rows(state(kSteps), num_pairs_), f.rows(state(kChanges), num_pairs_),
              f.rows(state(kRho), num_pairs_), f.rows(state(kScalars), 4)[3]};
  const Output zero = f.constant(0), product = f.dot(step, change);
  History updated = old;
  for (size_t i = 0; i < old.rho.size(); ++i) {
    const bool is_first = i == 0;
    updated.steps[i] = f.select(accepts_pair, is_first ? step : old.steps[i - 1], old.steps[i]);
    updated.changes[i] =
        f.select(accepts_pair, is_first ? change : old.changes[i - 1], old.changes[i]);
    const Output rho = is_first ? f.quotient(f.constant(1), product) : old.rho[i - 1];
    updated.rho[i] = f.select(restarts, zero, f.select(accepts_pair, rho, old.rho[i]));
  }
  const Output length = f.dot(change, divide(f.g, change, curvature_));
  const Output scale = f.quotient(product, length);
  updated.scale = f.select(restarts, f.constant(1), f.select(accepts_pair, scale, old.scale));
  return updated;
}

// Returns minus the inverse Hessian times the gradient, by the two-loop recursion of L-BFGS. With
// an L1 penalty, elements along which the loss does not decrease are set to 0.
Output Lbfgs::direction(Expressions& f, const History& history, Output gradient) const {
  Graph& g = f.g;
  Output q = gradient;
  std::vector<Output> coefficients;
  for (size_t i = 0; i < history.rho.size(); ++i) {
    coefficients.push_back(multiply(g, history.rho[i], f.dot(history.steps[i], q)));
    q = subtract(g, q, multiply(g, coefficients[i], history.changes[i]));
  }
  Output r = divide(g, multiply(g, history.scale, q), curvature_);
  for (size_t i = history.rho.size(); i-- > 0;) {
    const Output correction = multiply(g, history.rho[i], f.dot(history.changes[i], r));
    r = add(g, r, multiply(g, history.steps[i], subtract(g, coefficients[i], correction)));
  }
  const Output next_step = negative(g, r);
  if (l1_ == 0) return next_step;
  return f.select(f.less(multiply(g, next_step, gradient), f.constant(0)), next_step,
                  g.op("ZerosLike", {next_step}));
}

Output Lbfgs::full_batch_step(Expressions& f,
                              Output x,
                              Output gradient,
                              std::vector<Output>* next) const {
  Graph& g = f.g;
  curvature_ = curvature(f);
  const std::vector<Output> scalars = f.rows(state(kScalars), 4);
  const Output length = scalars[0], num_rejected = scalars[1], zero = f.constant(0);
  const Output restarts = f.either(g.op("Equal", {scalars[2], zero}),
                                   g.op("GreaterEqual", {num_rejected, f.constant(kMaxRejected)}));
  const Output slopes = pseudo_gradient(f, x, gradient);
  const Output previous_slopes = pseudo_gradient(f, state(kPoint), state(kGradient));
  const Output step = subtract(g, x, state(kPoint)),
               change = subtract(g, gradient, state(kGradient));
  // The slopes of the loss along the last step, at its start and end. The step was too long if the
  // slope at its end is clearly positive.
  const Output start_slope = f.dot(previous_slopes, step), end_slope = f.dot(slopes, step);
  const Output is_short =
      g.op("LessEqual",
           {end_slope, multiply(g, f.constant(kMaxSlopeRatio), g.op("Abs", {start_slope}))});
  const Output is_accepted = f.either(restarts, is_short);
  const Output min_curvature =
      multiply(g, f.constant(1e-12), multiply(g, f.norm(step), f.norm(change)));
  const Output has_curvature = f.less(min_curvature, f.dot(step, change));
  const Output accepts_pair = f.both(f.both(is_short, f.negate(restarts)), has_curvature);
  const History history = updated_history(f, accepts_pair, restarts, step, change);
  const Output next_step = direction(f, history, slopes);

  // Limits the length of a step, because the loss may be infinite far away. The limit is 1 for the
  // first step, and 1 plus the norm of x for later steps.
  const Output has_pair = f.less(zero, history.rho[0]);
  const Output max_norm = add(g, f.constant(1), f.select(has_pair, f.norm(x), zero));
  const Output full = f.quotient(max_norm, f.maximum(f.norm(next_step), max_norm));
  const Output shorter = f.quotient(negative(g, start_slope), subtract(g, end_slope, start_slope));
  const Output shortened =
      multiply(g, length, f.minimum(f.maximum(shorter, f.constant(0.1)), f.constant(0.5)));
  const Output next_length = f.select(is_accepted, full, shortened);
  const Output point = f.select(is_accepted, x, state(kPoint));
  const Output next_gradient = f.select(is_accepted, gradient, state(kGradient));
  const Output next_direction = f.select(is_accepted, next_step, state(kDirection));

  // The optimizer has converged if the next step of each weight is small. It is compared with the
  // largest weight, and with 1 / sqrt(curvature), the precision that the data allow.
  const Output remaining = g.op("Abs", {next_step});
  const Output by_size =
      g.op("LessEqual", {remaining, multiply(g, f.constant(tolerance_), f.max_abs(x))});
  const Output by_data = g.op("LessEqual", {multiply(g, remaining, g.op("Sqrt", {curvature_})),
                                            f.constant(10 * tolerance_)});
  const Output all_small =
      g.op("All", {f.either(by_size, by_data), g.int_vector({0})}).named("all_small");
  // A shortened step that promises less than the precision of the loss follows rounding errors. The
  // next full step would leave the minimum.
  const Output precision =
      multiply(g, f.constant(100 * tolerance_ * tolerance_), f.max_abs(curvature_));
  const Output is_stalled =
      f.both(f.less(zero, num_rejected), f.less(g.op("Abs", {start_slope}), precision));
  const Output is_done = f.either(all_small, is_stalled);
  const Output has_converged = f.both(f.both(is_accepted, f.negate(restarts)), is_done);
  add_endpoint(g, "has_converged", "", has_converged);
  add_endpoint(g, "gradient_norm", "", f.norm(slopes));

  const Output trial_point = add(g, point, multiply(g, next_length, next_direction));
  const Output slope_at = f.select(is_accepted, slopes, previous_slopes);
  *next = {point,
           next_gradient,
           next_direction,
           f.stack(history.steps),
           f.stack(history.changes),
           f.stack(history.rho),
           f.stack({next_length, f.select(is_accepted, zero, add(g, num_rejected, f.constant(1))),
                    f.constant(1), history.scale})};
  return f.select(has_converged, x, project_to_orthant(f, trial_point, point, slope_at));
}

// Makes a step of Adagrad, because gradients of mini-batches are too noisy to estimate curvature.
Output Lbfgs::mini_batch_step(Expressions& f,
                              Output x,
                              Output gradient,
                              std::vector<Output>* next) const {
  Graph& g = f.g;
  const Output slopes = pseudo_gradient(f, x, gradient);
  const Output squares = add(g, state(kSquares), multiply(g, slopes, slopes));
  const Output rate = cast(g, learning_rate_, kDtype);
  const Output step = multiply(g, rate, divide(g, slopes, g.op("Sqrt", {squares})));
  next->assign(kScalars, Output());  // the other state variables do not change
  next->push_back(g.op("ZerosLike", {state(kScalars)}));
  next->push_back(squares);
  return project_to_orthant(f, subtract(g, x, step), x, slopes);
}

Operation* Lbfgs::finish(Graph& graph, const std::vector<Operation*>& updates) {
  // New operations wait for one group op. A control edge from each gradient to each new operation
  // would make the number of edges quadratic.
  const ControlDependencies after_gradients(graph, {graph.group(updates, "gradients")});
  Expressions f(graph);
  std::vector<Output> values, gradients;
  for (const auto& part : gradients_) {
    values.push_back(add_read_op(graph, *part.first));
    gradients.push_back(part.second);
  }
  const Output x = flatten(f, values);
  Output gradient = flatten(f, gradients);
  if (l2_ > 0) gradient = add(graph, gradient, multiply(graph, penalty(f, 2 * l2_), x));
  std::vector<Output> next;
  const Output next_x = is_full_batch(graph) ? full_batch_step(f, x, gradient, &next)
                                             : mini_batch_step(f, x, gradient, &next);
  // Every new value must be computed from the old variables, before the first one changes.
  std::vector<Operation*> computed = {next_x.op};
  for (const Output& value : next) {
    if (value) computed.push_back(value.op);
  }
  const ControlDependencies after(graph, {graph.group(computed, "computed")});
  std::vector<Operation*> assignments;
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i]) assignments.push_back(add_assign_op(graph, *state_[i], next[i]));
  }
  int64_t begin = 0;
  for (const auto& part : gradients_) {
    const Shape& shape = part.first->shape;
    const Output from = graph.constant(Tensor::vector<int64_t>({begin}), "begin");
    const Output size = graph.constant(Tensor::vector<int64_t>({shape.num_elements()}), "size");
    const Output slice = graph.op("Slice", {next_x, from, size});
    const Output dims = graph.constant(Tensor::vector<int64_t>(shape.dims()), "shape");
    const Output value = graph.op("Reshape", {slice, dims});
    assignments.push_back(add_assign_op(graph, *part.first, cast(graph, value, part.first->dtype)));
    begin += shape.num_elements();
  }
  return graph.group(assignments, "update");
}

}  // namespace

RUNHOOKS_REGISTER_OPTIMIZER(
    "LBFGS",
    Lbfgs,
    "train.LBFGSOptimizer",
    {"learning_rate = 0.2: number in [0, Inf). Used only if batches hold a part of the rows.",
     "num_correction_pairs = 10: count. Number of past steps that estimate the curvature.",
     "tolerance = 1e-06: plain number in (0, Inf). Converged if the next step is smaller, "
     "relative to the largest weight.",
     "l1_regularization_strength = 0: plain number in [0, Inf). L1 penalty that is added to the "
     "loss.",
     "l2_regularization_strength = 0: plain number in [0, Inf). L2 penalty that is added to the "
     "loss.",
     "penalize_bias = TRUE: flag. Whether both penalties also apply to biases.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'LBFGS': string; kept. Name scope of the training op and its variables."});

}  // namespace runhooks
