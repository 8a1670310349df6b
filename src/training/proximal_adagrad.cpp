// Adagrad with a proximal step for l1 and l2 (tf.train.ProximalAdagradOptimizer).
#include "training/apply_kernel.h"
#include "training/optimizer.h"
#include "training/proximal.h"

namespace runhooks {

namespace {

struct ProximalAdagradRule {
  static constexpr int kNumVariables = 2;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *accum = in.variable(1);
    const T lr = in.scalar(2), l1 = in.scalar(3), l2 = in.scalar(4);
    const T* grad = in.gradient(5);
    for (int64_t i = 0; i < in.size(); ++i) {
      accum[i] += grad[i] * grad[i];
      const T rate = lr / std::sqrt(accum[i]);
      var[i] = proximal_step(var[i] - grad[i] * rate, rate, l1, l2);
    }
  }
};

class ProximalAdagrad : public Optimizer {
 public:
  explicit ProximalAdagrad(const Args& args)
      : Optimizer(args.text("name", "ProximalAdagrad"), args) {}
  std::vector<std::string> penalty_arguments() const override {
    return {"l1_regularization_strength", "l2_regularization_strength"};
  }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "accumulator",
              constant_initializer(args().number("initial_accumulator_value", 0.1)));
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate");
    l1_ = hyperparameter(graph, "l1_regularization_strength", 0);
    l2_ = hyperparameter(graph, "l2_regularization_strength", 0);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(graph, "ProximalAdagrad", variable, gradient, {"accumulator"},
                    {cast_like(graph, learning_rate_, variable), cast_like(graph, l1_, variable),
                     cast_like(graph, l2_, variable), gradient.values});
  }

 private:
  Output learning_rate_, l1_, l2_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(ProximalAdagradRule,
                           "ProximalAdagrad",
                           {"var", "accum"},
                           {"lr: T", "l1: T", "l2: T", "grad: T"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "ProximalAdagrad",
    ProximalAdagrad,
    "train.ProximalAdagradOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "initial_accumulator_value = 0.1: number in (0, Inf). Initial sum of squared gradients.",
     "l1_regularization_strength = 0: number in [0, Inf). L1 penalty.",
     "l2_regularization_strength = 0: number in [0, Inf). L2 penalty.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'ProximalAdagrad': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
