// Adadelta (tf.train.AdadeltaOptimizer; Zeiler 2012).
#include <cmath>

#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct AdadeltaRule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *accum = in.variable(1), *accum_update = in.variable(2);
    const T lr = in.scalar(3), rho = in.scalar(4), epsilon = in.scalar(5);
    const T* grad = in.gradient(6);
    for (int64_t i = 0; i < in.size(); ++i) {
      accum[i] = accum[i] * rho + grad[i] * grad[i] * (T(1) - rho);
      const T update =
          std::sqrt(accum_update[i] + epsilon) / std::sqrt(accum[i] + epsilon) * grad[i];
      accum_update[i] = accum_update[i] * rho + update * update * (T(1) - rho);
      var[i] -= update * lr;
    }
  }
};

class Adadelta : public Optimizer {
 public:
  explicit Adadelta(const Args& args) : Optimizer(args.text("name", "Adadelta"), args) {}

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "accum", zeros_initializer());
    make_slot(graph, variable, "accum_update", zeros_initializer());
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate", 0.001);
    rho_ = hyperparameter(graph, "rho", 0.95);
    epsilon_ = hyperparameter(graph, "epsilon", 1e-8);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(graph, "Adadelta", variable, gradient, {"accum", "accum_update"},
                    {cast_like(graph, learning_rate_, variable), cast_like(graph, rho_, variable),
                     cast_like(graph, epsilon_, variable), gradient.values});
  }

 private:
  Output learning_rate_, rho_, epsilon_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdadeltaRule,
                           "Adadelta",
                           {"var", "accum", "accum_update"},
                           {"lr: T", "rho: T", "epsilon: T", "grad: T"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "Adadelta",
    Adadelta,
    "train.AdadeltaOptimizer",
    {"learning_rate = 0.001: number in [0, Inf). Learning rate.",
     "rho = 0.95: number in [0, 1]. Decay rate of the running means.",
     "epsilon = 1e-08: number in [0, Inf). Small constant that avoids division by zero.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'Adadelta': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
