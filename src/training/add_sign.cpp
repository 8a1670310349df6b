// AddSign: takes longer steps where the gradient has the same sign as its running mean
// (tf.contrib.opt.AddSignOptimizer; Bello et al. 2017).
#include "ops/state/gradient_helpers.h"
#include "training/apply_kernel.h"
#include "training/lowered_update.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

template <typename T>
T sign_of(T x) {
  return static_cast<T>((x > T(0)) - (x < T(0)));
}

// Sparse updates leave rows without a gradient, and their running means, unchanged.
struct AddSignRule {
  static constexpr int kNumVariables = 2;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1);
    const T lr = in.scalar(2), alpha = in.scalar(3), decay = in.scalar(4), beta = in.scalar(5);
    const T* grad = in.gradient(6);
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] = m[i] * beta + grad[i] * (T(1) - beta);
      var[i] -= lr * (alpha + decay * sign_of(grad[i]) * sign_of(m[i])) * grad[i];
    }
  }
};

// Replaces the sparse op in exported graphs, because TensorFlow has only a dense op for AddSign.
void lower_sparse_add_sign(Graph& g, const Operation& op, const std::vector<Output>& inputs) {
  LoweredUpdate in(g, op, inputs);
  const Output rows = in.value(6), indices = in.value(7), one = in.scalar(1);
  const Output grad = in.scatter(0, rows, indices), has_gradient = in.row_mask(0, rows, indices);
  const Output m = add(g, multiply(g, in.value(1), in.value(5)),
                       multiply(g, grad, subtract(g, one, in.value(5))));
  const Output same_sign = multiply(g, g.op("Sign", {grad}), g.op("Sign", {m}));
  const Output scale = add(g, in.value(3), multiply(g, in.value(4), same_sign));
  const Output step = multiply(g, multiply(g, in.value(2), scale), grad);
  in.set(1, g.op("Select", {has_gradient, m, in.value(1)}));
  in.finish(g.op("Select", {has_gradient, subtract(g, in.value(0), step), in.value(0)}));
}

class AddSign : public Optimizer {
 public:
  explicit AddSign(const Args& args) : Optimizer(args.text("name", "AddSign"), args) {}

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "m", zeros_initializer());
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate", 0.1);
    alpha_ = hyperparameter(graph, "alpha", 1);
    beta_ = hyperparameter(graph, "beta", 0.9);
    decay_ = sign_decay(graph);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(
        graph, "AddSign", variable, gradient, {"m"},
        {cast_like(graph, learning_rate_, variable), cast_like(graph, alpha_, variable),
         cast_like(graph, decay_, variable), cast_like(graph, beta_, variable), gradient.values});
  }

 private:
  // Returns `decay` for this step; a step is lr * (alpha + decay * sign(grad) * sign(m)) * grad.
  Output sign_decay(Graph& graph) const {
    const auto function = args().callable("sign_decay_fn");
    if (!function) return graph.scalar(DType::kFloat32, 1, "sign_decay");
    const Value result = function->call({Value::of(get_or_create_global_step(graph)->snapshot)});
    if (const auto* tensor = result.get_if<Output>()) return *tensor;
    double x;
    if (value_number(result, &x)) return graph.scalar(DType::kFloat32, x, "sign_decay");
    invalid_argument("`sign_decay_fn` of ", args().owner(),
                     " must return a number or a tensor, not ", result.kind(), ".");
  }

  Output learning_rate_, alpha_, beta_, decay_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AddSignRule,
                           "AddSign",
                           {"var", "m"},
                           {"lr: T", "alpha: T", "sign_decay: T", "beta: T", "grad: T"},
                           {},
                           nullptr,
                           lower_sparse_add_sign);
RUNHOOKS_REGISTER_OPTIMIZER(
    "AddSign",
    AddSign,
    "contrib.opt.AddSignOptimizer",
    {"learning_rate = 0.1: number in [0, Inf). Learning rate.",
     "alpha = 1: number in [0, Inf). Step factor without the sign term.",
     "beta = 0.9: number in [0, 1]. Decay rate of the mean of the gradients.",
     "sign_decay_fn = NULL: any. Function of the global step; returns the weight of the signs.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'AddSign': string. Name scope of the training op and its slots."});

}  // namespace runhooks
