// Limited-memory BFGS (Liu and Nocedal 1989), with the L1 penalty of OWL-QN (Andrew and Gao 2007).
// Each training step evaluates one trial point of the line search and accepts it or shortens the
// step. The line search uses only gradients, because float32 losses are too inaccurate. All ops are
// TensorFlow's, in float64.
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

constexpr DType kReal = DType::kFloat64;

// Builds float64 expressions of vectors and scalars.
class Formulas {
 public:
  explicit Formulas(Graph& graph) : g(graph) {}
  Output of(double x) { return g.scalar(kReal, x); }
  Output sum(Output x) { return g.op("Sum", {x, g.int_vector({0})}); }
  Output dot(Output a, Output b) { return sum(multiply(g, a, b)); }
  Output norm(Output x) { return g.op("Sqrt", {dot(x, x)}); }
  Output largest(Output x) { return g.op("Max", {g.op("Abs", {x}), g.int_vector({0})}); }
  Output choose(Output holds, Output a, Output b) { return g.op("SelectV2", {holds, a, b}); }
  Output less(Output a, Output b) { return g.op("Less", {a, b}); }
  Output both(Output a, Output b) { return g.op("LogicalAnd", {a, b}); }
  Output either(Output a, Output b) { return g.op("LogicalOr", {a, b}); }
  Output negate(Output a) { return g.op("LogicalNot", {a}); }
  Output minimum(Output a, Output b) { return g.op("Minimum", {a, b}); }
  Output maximum(Output a, Output b) { return g.op("Maximum", {a, b}); }
  Output quotient(Output a, Output b) { return g.op("DivNoNan", {a, b}); }
  std::vector<Output> rows(Output x, int64_t n) {
    Operation* unpacked = g.op("Unpack", {x}).attr("num", n).attr("axis", 0);
    std::vector<Output> all;
    for (int i = 0; i < n; ++i) all.push_back(unpacked->output(i));
    return all;
  }
  Output stack(const std::vector<Output>& rows) { return g.op("Pack", rows).attr("axis", 0); }
  Graph& g;
};

// The correction pairs: the last steps and the changes of the gradient along them, newest first.
// `rho` is 1 / dot(step, change), or 0 for an unused pair.
struct Memory {
  std::vector<Output> steps, changes, rho;
  Output scale;  // of the initial inverse Hessian
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

  bool wants_all_rows() const override { return true; }
  std::vector<VariablePtr> own_variables() const override { return own_; }
  std::vector<std::string> penalties() const override {
    return {"l1_regularization_strength", "l2_regularization_strength"};
  }

 protected:
  void create_slots(Graph&, const VariablePtr& variable) override {
    if (own_.empty()) size_ += variable->shape.num_elements();
  }
  void create_own_variables(Graph& graph, const VariablePtr& first) override;
  void prepare(Graph& graph) override {
    // Hooks look for the learning rate, so it is defined only if it is used.
    if (!sees_all_rows(graph)) learning_rate_ = hyperparameter(graph, "learning_rate", 0.2);
    parts_.clear();
  }
  // Only collects the gradient; finish() updates all variables.
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    if (variable.constraint) {
      fail(Code::kUnimplemented, "LBFGS cannot train '", variable.name(),
           "', which has a constraint.");
    }
    parts_.push_back({&variable, dense_gradient(graph, gradient)});
    return parts_.back().second.op;
  }
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override;

 private:
  enum Own { kPoint, kGradient, kDirection, kSteps, kChanges, kRho, kNumbers, kSquares };
  static constexpr int kMaxTries = 12;
  // Accepts a step if the upward slope at its end is at most this fraction of the initial slope.
  static constexpr double kOvershoot = 0.25;

  Output own(Own which) const { return own_[static_cast<size_t>(which)]->snapshot; }
  static bool sees_all_rows(const Graph& graph);
  Output flat(Formulas& f, const std::vector<Output>& parts) const;
  Output value_of(Graph& graph, const Variable& variable) const;
  Output curvature(Formulas& f) const;
  Output penalty(Formulas& f, double strength) const;
  Output pseudo_gradient(Formulas& f, Output x, Output gradient) const;
  Output in_orthant(Formulas& f, Output next, Output point, Output slope) const;
  Memory updated_memory(
      Formulas& f, Output is_good, Output is_new, Output step, Output change) const;
  Output direction(Formulas& f, const Memory& memory, Output gradient) const;
  Output whole_step(Formulas& f, Output x, Output gradient, std::vector<Output>* next) const;
  Output partial_step(Formulas& f, Output x, Output gradient, std::vector<Output>* next) const;
  Operation* assign(Graph& graph, const Variable& variable, Output value) const;

  int64_t num_pairs_, size_ = 0;
  double tolerance_, l1_, l2_;
  bool penalizes_bias_;
  Output learning_rate_;
  std::vector<VariablePtr> own_;
  std::vector<std::pair<const Variable*, Output>> parts_;
  mutable Output curvature_;
};

void Lbfgs::create_own_variables(Graph& graph, const VariablePtr& first) {
  if (!own_.empty()) return;
  VariableOptions options;
  options.dtype = kReal;
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
    own_.push_back(graph.variables().get(unique, shape, options));
  };
  const Shape all{size_}, pairs{num_pairs_, size_};
  add("point", all, 0);
  add("gradient", all, 0);
  add("direction", all, 0);
  add("steps", pairs, 0);
  add("changes", pairs, 0);
  add("rho", Shape{num_pairs_}, 0);
  // step length, number of rejected trials, 1 after the first step, scale
  add("numbers", Shape{4}, 0);
  add("squares", all, 0.1);
}

// Input functions declare full batches with the endpoint "all_rows". A loss without an iterator is
// the same in each step.
bool Lbfgs::sees_all_rows(const Graph& graph) {
  if (!endpoint(graph, "all_rows").empty()) return true;
  for (const auto& op : graph.root().operations()) {
    for (const ArgDef& input : op->def().inputs) {
      if (input.handle_of == "iterator") return false;
    }
  }
  return true;
}

Output Lbfgs::flat(Formulas& f, const std::vector<Output>& parts) const {
  std::vector<Output> vectors;
  for (const Output& part : parts) {
    const Output vector = f.g.op("Reshape", {part, f.g.int_vector({-1})});
    vectors.push_back(cast(f.g, vector, kReal));
  }
  if (vectors.size() == 1) return vectors[0];
  vectors.push_back(f.g.scalar(DType::kInt32, 0, "axis"));
  return f.g.op("ConcatV2", vectors);
}

Output Lbfgs::value_of(Graph& graph, const Variable& variable) const {
  if (!variable.is_resource) return graph.op("Identity", {variable.handle});
  return graph.op("ReadVariableOp", {variable.handle}).attr("dtype", variable.dtype);
}

// The diagonal of the Gauss-Newton matrix, summed over replicas; 1 where it is unknown or 0.
Output Lbfgs::curvature(Formulas& f) const {
  std::vector<Output> parts;
  for (const auto& part : parts_) {
    const Output known = curvature_of(f.g, *part.first);
    parts.push_back(known ? known : Output(f.g.op("ZerosLike", {part.second})));
  }
  // An element that no output depends on, such as an unused category, has zero curvature.
  const Output all = sum_over_replicas(f.g, flat(f, parts));
  return f.choose(f.less(f.of(0), all), all, ones_like(f.g, all));
}

// Whether the variable has TensorFlow's name for biases of linear models or dense layers.
bool is_bias(const Variable& variable) {
  const std::string name = "/" + variable.save_name();
  for (const std::string end : {"/bias", "/bias_weights"}) {
    if (name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0) {
      return true;
    }
  }
  return false;
}

// The strength of a penalty for each weight, or a scalar if biases are penalized, too.
Output Lbfgs::penalty(Formulas& f, double strength) const {
  if (penalizes_bias_) return f.of(strength);
  std::vector<double> strengths;
  for (const auto& part : parts_) {
    const auto size = static_cast<size_t>(part.first->shape.num_elements());
    strengths.insert(strengths.end(), size, is_bias(*part.first) ? 0 : strength);
  }
  return f.g.constant(Tensor::vector<double>(strengths), "penalty");
}

// The pseudo-gradient of loss + l1 |x|. At 0 it is the one-sided derivative of a descent direction,
// or 0 if the loss increases in both directions.
Output Lbfgs::pseudo_gradient(Formulas& f, Output x, Output gradient) const {
  if (l1_ == 0) return gradient;
  const Output l1 = penalty(f, l1_);
  const Output off = add(f.g, gradient, multiply(f.g, l1, f.g.op("Sign", {x})));
  const Output size = f.maximum(subtract(f.g, f.g.op("Abs", {gradient}), l1), f.of(0));
  const Output at_zero = multiply(f.g, size, f.g.op("Sign", {gradient}));
  return f.choose(f.g.op("Equal", {x, f.of(0)}), at_zero, off);
}

// Sets elements to 0 if the step would change their sign.
Output Lbfgs::in_orthant(Formulas& f, Output next, Output point, Output slope) const {
  if (l1_ == 0) return next;
  const Output at_zero = f.g.op("Equal", {point, f.of(0)});
  const Output side = f.choose(at_zero, negative(f.g, slope), point);
  Output is_kept = f.less(f.of(0), multiply(f.g, next, side));
  if (!penalizes_bias_) {
    is_kept = f.either(is_kept, f.g.op("Equal", {penalty(f, l1_), f.of(0)}));
  }
  return f.choose(is_kept, next, f.g.op("ZerosLike", {next}));
}

// Adds the newest pair if `is_good`; clears all pairs if `is_new`.
Memory Lbfgs::updated_memory(
    Formulas& f, Output is_good, Output is_new, Output step, Output change) const {
  Memory old{f.rows(own(kSteps), num_pairs_), f.rows(own(kChanges), num_pairs_),
             f.rows(own(kRho), num_pairs_), f.rows(own(kNumbers), 4)[3]};
  const Output zero = f.of(0), product = f.dot(step, change);
  Memory now = old;
  for (size_t i = 0; i < old.rho.size(); ++i) {
    const bool is_first = i == 0;
    now.steps[i] = f.choose(is_good, is_first ? step : old.steps[i - 1], old.steps[i]);
    now.changes[i] = f.choose(is_good, is_first ? change : old.changes[i - 1], old.changes[i]);
    const Output rho = is_first ? f.quotient(f.of(1), product) : old.rho[i - 1];
    now.rho[i] = f.choose(is_new, zero, f.choose(is_good, rho, old.rho[i]));
  }
  const Output length = f.dot(change, divide(f.g, change, curvature_));
  const Output scale = f.quotient(product, length);
  now.scale = f.choose(is_new, f.of(1), f.choose(is_good, scale, old.scale));
  return now;
}

// Minus the inverse Hessian times the gradient, by the two-loop recursion. With an L1 penalty,
// elements that do not descend are set to 0.
Output Lbfgs::direction(Formulas& f, const Memory& memory, Output gradient) const {
  Graph& g = f.g;
  Output q = gradient;
  std::vector<Output> shares;
  for (size_t i = 0; i < memory.rho.size(); ++i) {
    shares.push_back(multiply(g, memory.rho[i], f.dot(memory.steps[i], q)));
    q = subtract(g, q, multiply(g, shares[i], memory.changes[i]));
  }
  Output r = divide(g, multiply(g, memory.scale, q), curvature_);
  for (size_t i = memory.rho.size(); i-- > 0;) {
    const Output back = multiply(g, memory.rho[i], f.dot(memory.changes[i], r));
    r = add(g, r, multiply(g, memory.steps[i], subtract(g, shares[i], back)));
  }
  const Output down = negative(g, r);
  if (l1_ == 0) return down;
  return f.choose(f.less(multiply(g, down, gradient), f.of(0)), down, g.op("ZerosLike", {down}));
}

Output Lbfgs::whole_step(Formulas& f, Output x, Output gradient, std::vector<Output>* next) const {
  Graph& g = f.g;
  curvature_ = curvature(f);
  const std::vector<Output> numbers = f.rows(own(kNumbers), 4);
  const Output length = numbers[0], tries = numbers[1], zero = f.of(0);
  const Output is_new =
      f.either(g.op("Equal", {numbers[2], zero}), g.op("GreaterEqual", {tries, f.of(kMaxTries)}));
  const Output slopes = pseudo_gradient(f, x, gradient);
  const Output before = pseudo_gradient(f, own(kPoint), own(kGradient));
  const Output step = subtract(g, x, own(kPoint)), change = subtract(g, gradient, own(kGradient));
  // Slopes along the step at its start and end. The step is too long if the loss increases again.
  const Output first = f.dot(before, step), last = f.dot(slopes, step);
  const Output is_short =
      g.op("LessEqual", {last, multiply(g, f.of(kOvershoot), g.op("Abs", {first}))});
  const Output is_accepted = f.either(is_new, is_short);
  const Output floor = multiply(g, f.of(1e-12), multiply(g, f.norm(step), f.norm(change)));
  const Output bends = f.less(floor, f.dot(step, change));
  const Output is_good = f.both(f.both(is_short, f.negate(is_new)), bends);
  const Memory memory = updated_memory(f, is_good, is_new, step, change);
  const Output down = direction(f, memory, slopes);

  // Far away the loss may be infinite, so the first step has at most length 1, and later steps at
  // most 1 plus the norm of x.
  const Output has_pair = f.less(zero, memory.rho[0]);
  const Output max_norm = add(g, f.of(1), f.choose(has_pair, f.norm(x), zero));
  const Output full = f.quotient(max_norm, f.maximum(f.norm(down), max_norm));
  const Output shorter = f.quotient(negative(g, first), subtract(g, last, first));
  const Output shortened = multiply(g, length, f.minimum(f.maximum(shorter, f.of(0.1)), f.of(0.5)));
  const Output next_length = f.choose(is_accepted, full, shortened);
  const Output point = f.choose(is_accepted, x, own(kPoint));
  const Output at = f.choose(is_accepted, gradient, own(kGradient));
  const Output next_direction = f.choose(is_accepted, down, own(kDirection));

  // Converged if the remaining step of each element is small compared with the largest weight, or
  // with the precision that the data allow (1 / sqrt(curvature)).
  const Output remaining = g.op("Abs", {down});
  const Output by_size =
      g.op("LessEqual", {remaining, multiply(g, f.of(tolerance_), f.largest(x))});
  const Output by_data = g.op(
      "LessEqual", {multiply(g, remaining, g.op("Sqrt", {curvature_})), f.of(10 * tolerance_)});
  const Output all_small =
      g.op("All", {f.either(by_size, by_data), g.int_vector({0})}).named("all_small");
  // A shortened step that promises less than the precision of the loss follows rounding errors. The
  // next full step would leave the minimum.
  const Output precision = multiply(g, f.of(100 * tolerance_ * tolerance_), f.largest(curvature_));
  const Output stalls = f.both(f.less(zero, tries), f.less(g.op("Abs", {first}), precision));
  const Output is_done = f.either(all_small, stalls);
  const Output has_converged = f.both(f.both(is_accepted, f.negate(is_new)), is_done);
  add_endpoint(g, "has_converged", "", has_converged);
  add_endpoint(g, "gradient_norm", "", f.norm(slopes));

  const Output trial_point = add(g, point, multiply(g, next_length, next_direction));
  const Output slope_at = f.choose(is_accepted, slopes, before);
  *next = {point,
           at,
           next_direction,
           f.stack(memory.steps),
           f.stack(memory.changes),
           f.stack(memory.rho),
           f.stack({next_length, f.choose(is_accepted, zero, add(g, tries, f.of(1))), f.of(1),
                    memory.scale})};
  return f.choose(has_converged, x, in_orthant(f, trial_point, point, slope_at));
}

// An Adagrad step, because mini-batches are too noisy to estimate curvature.
Output Lbfgs::partial_step(Formulas& f,
                           Output x,
                           Output gradient,
                           std::vector<Output>* next) const {
  Graph& g = f.g;
  const Output slopes = pseudo_gradient(f, x, gradient);
  const Output squares = add(g, own(kSquares), multiply(g, slopes, slopes));
  const Output rate = cast(g, learning_rate_, kReal);
  const Output step = multiply(g, rate, divide(g, slopes, g.op("Sqrt", {squares})));
  *next = {Output(),
           Output(),
           Output(),
           Output(),
           Output(),
           Output(),
           g.op("ZerosLike", {own(kNumbers)}),
           squares};
  return in_orthant(f, subtract(g, x, step), x, slopes);
}

Operation* Lbfgs::assign(Graph& graph, const Variable& variable, Output value) const {
  const char* type = variable.is_resource ? "AssignVariableOp" : "Assign";
  return graph.op(type, {variable.handle, value});
}

Operation* Lbfgs::finish(Graph& graph, const std::vector<Operation*>& updates) {
  // With one control input per gradient, the number of edges would be quadratic.
  const ControlDependencies after_gradients(graph, {graph.group(updates, "gradients")});
  Formulas f(graph);
  std::vector<Output> values, gradients;
  for (const auto& part : parts_) {
    values.push_back(value_of(graph, *part.first));
    gradients.push_back(part.second);
  }
  const Output x = flat(f, values);
  Output gradient = flat(f, gradients);
  if (l2_ > 0) gradient = add(graph, gradient, multiply(graph, penalty(f, 2 * l2_), x));
  std::vector<Output> next;
  const Output moved = sees_all_rows(graph) ? whole_step(f, x, gradient, &next)
                                            : partial_step(f, x, gradient, &next);
  // All values must be read before the first variable changes.
  std::vector<Operation*> computed = {moved.op};
  for (const Output& value : next) {
    if (value) computed.push_back(value.op);
  }
  const ControlDependencies after(graph, {graph.group(computed, "computed")});
  std::vector<Operation*> all;
  for (size_t i = 0; i < next.size(); ++i) {
    if (next[i]) all.push_back(assign(graph, *own_[i], next[i]));
  }
  int64_t begin = 0;
  for (const auto& part : parts_) {
    const Shape& shape = part.first->shape;
    const Output from = graph.constant(Tensor::vector<int64_t>({begin}), "begin");
    const Output size = graph.constant(Tensor::vector<int64_t>({shape.num_elements()}), "size");
    const Output own_part = graph.op("Slice", {moved, from, size});
    const Output dims = graph.constant(Tensor::vector<int64_t>(shape.dims()), "shape");
    const Output value = graph.op("Reshape", {own_part, dims});
    all.push_back(assign(graph, *part.first, cast(graph, value, part.first->dtype)));
    begin += shape.num_elements();
  }
  return graph.group(all, "update");
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
