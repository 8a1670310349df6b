// Adam (tf.train.AdamOptimizer; Kingma and Ba 2015), with bias correction in the learning rate.
#include <cmath>
#include <type_traits>

#include "kernels/kernels.h"
#include "ops/state/gradient_helpers.h"
#include "training/adam_family.h"
#include "training/apply_kernel.h"
#include "training/lowered_update.h"

namespace runhooks {

namespace {

struct AdamRule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kCustom;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1), *v = in.variable(2);
    const T beta1_power = in.scalar(3), beta2_power = in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T* grad = in.gradient(9);
    const T alpha = lr * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    if constexpr (std::is_same_v<T, float>) {
      const AdamRates rates = {alpha, 1 - beta1, 1 - beta2, epsilon};
      return kernels().updates->sadam(in.size(), &rates, var, m, v, grad);
    }
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] += (grad[i] - m[i]) * (T(1) - beta1);
      v[i] += (grad[i] * grad[i] - v[i]) * (T(1) - beta2);
      var[i] -= m[i] * alpha / (std::sqrt(v[i]) + epsilon);
    }
  }
  // Updates all rows, as TensorFlow 1 does: in rows without a gradient, m and v decay, and the
  // variable moves.
  template <typename T>
  static void apply_rows(ApplyInputs<T>& in) {
    const T beta1_power = in.scalar(3), beta2_power = in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T alpha = lr * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    const int64_t n = in.variable_size();
    T *m = in.variable(1), *v = in.variable(2), *var = in.variable(0);
    for (int64_t i = 0; i < n; ++i) m[i] *= beta1;
    for (int64_t i = 0; i < n; ++i) v[i] *= beta2;
    for (int64_t r = 0; r < in.num_rows(); ++r) {
      in.select_row(r);
      const T* grad = in.gradient(9);
      for (int64_t i = 0; i < in.size(); ++i) {
        in.variable(1)[i] += grad[i] * (T(1) - beta1);
        in.variable(2)[i] += grad[i] * grad[i] * (T(1) - beta2);
      }
    }
    for (int64_t i = 0; i < n; ++i) var[i] -= m[i] * alpha / (std::sqrt(v[i]) + epsilon);
  }
};

// Replaces the sparse op in exported graphs by the ops that TensorFlow's Adam optimizer builds;
// TensorFlow has no op for sparse Adam.
void lower_sparse_adam(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  LoweredUpdate in(g, op, inputs);
  const Output one = in.scalar(1), grad = in.value(9), indices = in.value(10);
  const Output bias2 = g.op("Sqrt", {subtract(g, one, in.value(4))});
  const Output alpha = divide(g, multiply(g, in.value(5), bias2), subtract(g, one, in.value(3)));
  const Output m = in.update_mean_rows(1, grad, indices, in.value(6));
  const Output v = in.update_mean_rows(2, g.op("Square", {grad}), indices, in.value(7));
  const Output root = add(g, g.op("Sqrt", {v}), in.value(8));
  in.finish(subtract(g, in.value(0), divide(g, multiply(g, m, alpha), root)));
}

class Adam : public AdamFamily {
 public:
  explicit Adam(const Args& args) : AdamFamily(args.text("name", "Adam"), args, 1e-8) {}

 protected:
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    std::vector<Output> inputs = shared_inputs(graph, variable);
    inputs.push_back(gradient.values);
    return apply_op(graph, "Adam", variable, gradient, {"m", "v"}, inputs);
  }
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdamRule,
                           "Adam",
                           {"var", "m", "v"},
                           {"beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T",
                            "epsilon: T", "grad: T"},
                           {"use_nesterov: bool = false"},
                           nullptr,
                           lower_sparse_adam);
RUNHOOKS_REGISTER_OPTIMIZER(
    "Adam",
    Adam,
    "train.AdamOptimizer",
    {"learning_rate = 0.001: number in [0, Inf). Learning rate.",
     "beta1 = 0.9: number in [0, 1]. Decay rate of the mean of the gradients.",
     "beta2 = 0.999: number in [0, 1]. Decay rate of the mean of squared gradients.",
     "epsilon = 1e-08: number in (0, Inf). Small constant that avoids division by zero.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'Adam': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
