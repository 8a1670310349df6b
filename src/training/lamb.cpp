// LAMB: Adam with each step scaled to the norm of its variable (You et al. 2020; tfa.optimizers).
#include <cmath>

#include "autodiff/gradients.h"
#include "base/pattern.h"
#include "ops/state/gradient_helpers.h"
#include "training/adam_family.h"
#include "training/apply_kernel.h"
#include "training/lowered_update.h"

namespace runhooks {

namespace {

struct LambRule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kNone;
  static constexpr bool kUsesAllElements = true;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1), *v = in.variable(2);
    const T c1 = T(1) - in.scalar(3), c2 = T(1) - in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T decay = in.scalar(9);
    const T* grad = in.gradient(10);
    auto direction = [=](int64_t i) {
      return m[i] / c1 / (std::sqrt(v[i] / c2) + epsilon) + decay * var[i];
    };
    double squared_norm = 0, squared_step_norm = 0;
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] += (grad[i] - m[i]) * (T(1) - beta1);
      v[i] += (grad[i] * grad[i] - v[i]) * (T(1) - beta2);
      const double step = direction(i);
      squared_step_norm += step * step;
      squared_norm += double{var[i]} * var[i];
    }
    const bool adapts = in.op().attr_bool("adapts") && squared_step_norm > 0 && squared_norm > 0;
    const T ratio = adapts ? static_cast<T>(std::sqrt(squared_norm / squared_step_norm)) : T(1);
    for (int64_t i = 0; i < in.size(); ++i) var[i] -= lr * ratio * direction(i);
  }
};

void lower_lamb(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  LoweredUpdate in(g, op, inputs);
  const Output one = in.scalar(1), zero = in.scalar(0), var = in.value(0), grad = in.value(10);
  const Output m = in.update_mean(1, grad, in.value(6));
  const Output v = in.update_mean(2, g.op("Square", {grad}), in.value(7));
  const Output m_hat = divide(g, m, subtract(g, one, in.value(3)));
  const Output v_hat = divide(g, v, subtract(g, one, in.value(4)));
  const Output moment = divide(g, m_hat, add(g, g.op("Sqrt", {v_hat}), in.value(8)));
  const Output direction = add(g, moment, multiply(g, in.value(9), var));
  Output rate = in.value(5);
  if (op.attr_bool("adapts")) {
    const Output squared_norm = g.op("L2Loss", {var}),
                 squared_step_norm = g.op("L2Loss", {direction});
    const Output are_positive = g.op("LogicalAnd", {g.op("Greater", {squared_norm, zero}),
                                                    g.op("Greater", {squared_step_norm, zero})});
    const Output ratio = g.op("Sqrt", {g.op("DivNoNan", {squared_norm, squared_step_norm})});
    rate = multiply(g, rate, g.op("SelectV2", {are_positive, ratio, one}));
  }
  in.finish(subtract(g, var, multiply(g, rate, direction)));
}

class Lamb : public AdamFamily {
 public:
  explicit Lamb(const Args& args) : AdamFamily(args.text("name", "LAMB"), args, 1e-6) {}
  std::vector<std::string> penalty_arguments() const override { return {"weight_decay_rate"}; }

 protected:
  void prepare(Graph& graph) override {
    AdamFamily::prepare(graph);
    weight_decay_ = hyperparameter(graph, "weight_decay_rate", 0);
    zero_decay_ = graph.scalar(DType::kFloat32, 0, "no_weight_decay");
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    const Gradient dense = dense_gradient(graph, gradient);
    const Output decay =
        is_excluded(variable, "exclude_from_weight_decay") ? zero_decay_ : weight_decay_;
    std::vector<Output> inputs = shared_inputs(graph, variable);
    inputs.push_back(cast_like(graph, decay, variable));
    inputs.push_back(dense.values);
    // By default, the variables that are excluded from weight decay are also excluded from layer
    // adaptation, which scales the step to the norm of the variable.
    const char* argument = args().has("exclude_from_layer_adaptation")
                               ? "exclude_from_layer_adaptation"
                               : "exclude_from_weight_decay";
    AttrMap attrs;
    attrs.set("adapts", !is_excluded(variable, argument));
    return apply_op(graph, "Lamb", variable, dense, {"m", "v"}, inputs, attrs);
  }

 private:
  // True if `argument` is set and one of its patterns matches part of the variable's name.
  bool is_excluded(const Variable& variable, const char* argument) const {
    if (!args().has(argument)) return false;
    for (const std::string& pattern : args().texts(argument)) {
      if (Pattern(pattern).is_in(variable.op_name())) return true;
    }
    return false;
  }

  Output weight_decay_, zero_decay_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(LambRule,
                           "Lamb",
                           {"var", "m", "v"},
                           {"beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T",
                            "epsilon: T", "weight_decay_rate: T", "grad: T"},
                           {"adapts: bool = true"},
                           lower_lamb);
RUNHOOKS_REGISTER_OPTIMIZER(
    "LAMB",
    Lamb,
    "train.LAMBOptimizer, contrib.opt.LAMBOptimizer",
    {"learning_rate = 0.001: number in [0, Inf). Learning rate.",
     "beta1 = 0.9: number in [0, 1]. Decay rate of the mean of the gradients.",
     "beta2 = 0.999: number in [0, 1]. Decay rate of the mean of squared gradients.",
     "epsilon = 1e-06: number in (0, Inf). Small constant that avoids division by zero.",
     "weight_decay_rate = 0: number in [0, Inf). Fraction of each weight subtracted in a "
     "step.",
     "exclude_from_weight_decay = NULL: any. Patterns of names of variables without decay.",
     "exclude_from_layer_adaptation = NULL: any. Patterns of names of variables whose step is "
     "not scaled.",
     "name = 'LAMB': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
