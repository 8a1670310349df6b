// AdaMax: Adam with the infinity norm (tf.contrib.opt.AdaMaxOptimizer; Kingma and Ba 2015).
#include <algorithm>
#include <cmath>

#include "ops/state/gradient_helpers.h"
#include "training/adam_family.h"
#include "training/apply_kernel.h"
#include "training/lowered_update.h"

namespace runhooks {

namespace {

// Unlike Adam, sparse updates leave rows without a gradient unchanged.
struct AdaMaxRule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1), *v = in.variable(2);
    const T beta1 = in.scalar(5), beta2 = in.scalar(6), epsilon = in.scalar(7);
    const T alpha = in.scalar(4) / (T(1) - in.scalar(3));
    const T* grad = in.gradient(8);
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] += (grad[i] - m[i]) * (T(1) - beta1);
      v[i] = std::max(beta2 * v[i], std::abs(grad[i]));
      var[i] -= alpha * (m[i] / (v[i] + epsilon));
    }
  }
};

// Replaces the sparse op in exported graphs, because TensorFlow has only a dense op for AdaMax.
void lower_sparse_adamax(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  LoweredUpdate in(g, op, inputs);
  const Output one = in.scalar(1), rows = in.value(8), indices = in.value(9);
  const Output grad = in.scatter(0, rows, indices), has_gradient = in.row_mask(0, rows, indices);
  const Output step = multiply(g, subtract(g, grad, in.value(1)), subtract(g, one, in.value(5)));
  const Output m = add(g, in.value(1), step);
  const Output v = g.op("Maximum", {multiply(g, in.value(6), in.value(2)), g.op("Abs", {grad})});
  const Output alpha = divide(g, in.value(4), subtract(g, one, in.value(3)));
  const Output quotient = divide(g, m, add(g, v, in.value(7)));
  in.set(1, g.op("Select", {has_gradient, m, in.value(1)}));
  in.set(2, g.op("Select", {has_gradient, v, in.value(2)}));
  const Output next = subtract(g, in.value(0), multiply(g, alpha, quotient));
  in.finish(g.op("Select", {has_gradient, next, in.value(0)}));
}

class AdaMax : public AdamFamily {
 public:
  explicit AdaMax(const Args& args)
      : AdamFamily(args.text("name", "AdaMax"), args, 1e-8, /*has_beta2_power=*/false) {}

 protected:
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    std::vector<Output> inputs = shared_inputs(graph, variable);
    inputs.push_back(gradient.values);
    return apply_op(graph, "AdaMax", variable, gradient, {"m", "v"}, inputs);
  }
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdaMaxRule,
                           "AdaMax",
                           {"var", "m", "v"},
                           {"beta1_power: T", "lr: T", "beta1: T", "beta2: T", "epsilon: T",
                            "grad: T"},
                           {},
                           nullptr,
                           lower_sparse_adamax);
RUNHOOKS_REGISTER_OPTIMIZER(
    "AdaMax",
    AdaMax,
    "contrib.opt.AdaMaxOptimizer",
    {"learning_rate = 0.001: number in [0, Inf). Learning rate.",
     "beta1 = 0.9: number in [0, 1]. Decay rate of the mean of the gradients.",
     "beta2 = 0.999: number in [0, 1]. Decay rate of the largest gradient.",
     "epsilon = 1e-08: number in (0, Inf). Small constant that avoids division by zero.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'AdaMax': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
