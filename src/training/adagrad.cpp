// Adagrad (tf.train.AdagradOptimizer; Duchi et al. 2011).
#include <cmath>
#include <type_traits>

#include "kernels/kernels.h"
#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct AdagradRule {
  static constexpr int kNumVariables = 2;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *accum = in.variable(1);
    const T lr = in.scalar(2);
    const T* grad = in.gradient(3);
    if constexpr (std::is_same_v<T, float>) {
      return kernels().updates->sadagrad(in.size(), lr, var, accum, grad);
    }
    for (int64_t i = 0; i < in.size(); ++i) {
      accum[i] += grad[i] * grad[i];
      var[i] -= grad[i] * lr / std::sqrt(accum[i]);
    }
  }
};

class Adagrad : public Optimizer {
 public:
  explicit Adagrad(const Args& args) : Optimizer(args.text("name", "Adagrad"), args) {}

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "accumulator",
              constant_initializer(args().number("initial_accumulator_value", 0.1)));
  }
  void prepare(Graph& graph) override { learning_rate_ = hyperparameter(graph, "learning_rate"); }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(graph, "Adagrad", variable, gradient, {"accumulator"},
                    {cast_like(graph, learning_rate_, variable), gradient.values});
  }

 private:
  Output learning_rate_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(
    AdagradRule, "Adagrad", {"var", "accum"}, {"lr: T", "grad: T"}, {"update_slots: bool = true"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "Adagrad",
    Adagrad,
    "train.AdagradOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "initial_accumulator_value = 0.1: number in (0, Inf). Initial sum of squared gradients.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'Adagrad': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
