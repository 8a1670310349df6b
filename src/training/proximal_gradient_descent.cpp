// Gradient descent with a proximal step for l1 and l2 (tf.train.ProximalGradientDescentOptimizer).
#include "training/apply_kernel.h"
#include "training/optimizer.h"
#include "training/proximal.h"

namespace runhooks {

namespace {

struct ProximalGradientDescentRule {
  static constexpr int kNumVariables = 1;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T* var = in.variable(0);
    const T alpha = in.scalar(1), l1 = in.scalar(2), l2 = in.scalar(3);
    const T* grad = in.gradient(4);
    for (int64_t i = 0; i < in.size(); ++i) {
      var[i] = proximal_step(var[i] - grad[i] * alpha, alpha, l1, l2);
    }
  }
};

class ProximalGradientDescent : public Optimizer {
 public:
  explicit ProximalGradientDescent(const Args& args)
      : Optimizer(args.text("name", "ProximalGradientDescent"), args) {}
  std::vector<std::string> penalty_arguments() const override {
    return {"l1_regularization_strength", "l2_regularization_strength"};
  }

 protected:
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate");
    l1_ = hyperparameter(graph, "l1_regularization_strength", 0);
    l2_ = hyperparameter(graph, "l2_regularization_strength", 0);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(graph, "ProximalGradientDescent", variable, gradient, {},
                    {cast_like(graph, learning_rate_, variable), cast_like(graph, l1_, variable),
                     cast_like(graph, l2_, variable), gradient.values});
  }

 private:
  Output learning_rate_, l1_, l2_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(ProximalGradientDescentRule,
                           "ProximalGradientDescent",
                           {"var"},
                           {"alpha: T", "l1: T", "l2: T", "delta: T"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "ProximalGradientDescent",
    ProximalGradientDescent,
    "train.ProximalGradientDescentOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "l1_regularization_strength = 0: number in [0, Inf). L1 penalty.",
     "l2_regularization_strength = 0: number in [0, Inf). L2 penalty.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'ProximalGradientDescent': string; kept. Name scope of the training op "
     "and its slots."});

}  // namespace runhooks
