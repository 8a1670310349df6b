// Adam with decoupled weight decay (tf.contrib.opt.AdamWOptimizer; Loshchilov and Hutter 2019).
#include <cmath>

#include "autodiff/gradients.h"
#include "ops/state/gradient_helpers.h"
#include "training/adam_family.h"
#include "training/apply_kernel.h"
#include "training/lowered_update.h"

namespace runhooks {

namespace {

// The rule of AdamW: weight decay is subtracted from the variable; it is not part of the gradient.
struct AdamWRule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kNone;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1), *v = in.variable(2);
    const T beta1_power = in.scalar(3), beta2_power = in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T decay_factor = T(1) - in.scalar(9);
    const T* grad = in.gradient(10);
    const T alpha = lr * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] += (grad[i] - m[i]) * (T(1) - beta1);
      v[i] += (grad[i] * grad[i] - v[i]) * (T(1) - beta2);
      var[i] = var[i] * decay_factor - m[i] * alpha / (std::sqrt(v[i]) + epsilon);
    }
  }
};

void lower_adamw(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  LoweredUpdate in(g, op, inputs);
  const Output one = in.scalar(1), grad = in.value(10);
  const Output bias2 = g.op("Sqrt", {subtract(g, one, in.value(4))});
  const Output alpha = divide(g, multiply(g, in.value(5), bias2), subtract(g, one, in.value(3)));
  const Output m = in.update_mean(1, grad, in.value(6));
  const Output v = in.update_mean(2, g.op("Square", {grad}), in.value(7));
  const Output decayed = multiply(g, in.value(0), subtract(g, one, in.value(9)));
  const Output root = add(g, g.op("Sqrt", {v}), in.value(8));
  in.finish(subtract(g, decayed, divide(g, multiply(g, m, alpha), root)));
}

class AdamW : public AdamFamily {
 public:
  explicit AdamW(const Args& args) : AdamFamily(args.text("name", "AdamW"), args, 1e-8) {}
  std::vector<std::string> penalty_arguments() const override { return {"weight_decay"}; }

 protected:
  void prepare(Graph& graph) override {
    AdamFamily::prepare(graph);
    weight_decay_ = hyperparameter(graph, "weight_decay");
  }
  // Makes the gradient dense: weight decay changes every row, so a sparse update saves nothing.
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    const Gradient dense = dense_gradient(graph, gradient);
    std::vector<Output> inputs = shared_inputs(graph, variable);
    inputs.push_back(cast_like(graph, weight_decay_, variable));
    inputs.push_back(dense.values);
    return apply_op(graph, "AdamW", variable, dense, {"m", "v"}, inputs);
  }

 private:
  Output weight_decay_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdamWRule,
                           "AdamW",
                           {"var", "m", "v"},
                           {"beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T",
                            "epsilon: T", "weight_decay: T", "grad: T"},
                           {},
                           lower_adamw);
RUNHOOKS_REGISTER_OPTIMIZER(
    "AdamW",
    AdamW,
    "train.AdamWOptimizer, contrib.opt.AdamWOptimizer",
    {"weight_decay: number in [0, Inf). Fraction of each weight subtracted in a step.",
     "learning_rate = 0.001: number in [0, Inf). Learning rate.",
     "beta1 = 0.9: number in [0, 1]. Decay rate of the mean of the gradients.",
     "beta2 = 0.999: number in [0, 1]. Decay rate of the mean of squared gradients.",
     "epsilon = 1e-08: number in (0, Inf). Small constant that avoids division by zero.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'AdamW': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
