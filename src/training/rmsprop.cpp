// RMSProp, plain and centered (tf.train.RMSPropOptimizer; Tieleman and Hinton 2012).
#include <cmath>

#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct RMSPropRule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *ms = in.variable(1), *mom = in.variable(2);
    const T lr = in.scalar(3), rho = in.scalar(4), momentum = in.scalar(5), epsilon = in.scalar(6);
    const T* grad = in.gradient(7);
    for (int64_t i = 0; i < in.size(); ++i) {
      ms[i] += (grad[i] * grad[i] - ms[i]) * (T(1) - rho);
      mom[i] = mom[i] * momentum + grad[i] * lr / std::sqrt(ms[i] + epsilon);
      var[i] -= mom[i];
    }
  }
};

struct CenteredRMSPropRule {
  static constexpr int kNumVariables = 4;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *mg = in.variable(1), *ms = in.variable(2), *mom = in.variable(3);
    const T lr = in.scalar(4), rho = in.scalar(5), momentum = in.scalar(6), epsilon = in.scalar(7);
    const T* grad = in.gradient(8);
    for (int64_t i = 0; i < in.size(); ++i) {
      ms[i] += (grad[i] * grad[i] - ms[i]) * (T(1) - rho);
      mg[i] += (grad[i] - mg[i]) * (T(1) - rho);
      const T variance = ms[i] - mg[i] * mg[i] + epsilon;
      mom[i] = mom[i] * momentum + grad[i] * lr / std::sqrt(variance);
      var[i] -= mom[i];
    }
  }
};

class RMSProp : public Optimizer {
 public:
  explicit RMSProp(const Args& args)
      : Optimizer(args.text("name", "RMSProp"), args), centered_(args.flag("centered", false)) {}

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "rms", constant_initializer(1));
    if (centered_) make_slot(graph, variable, "mg", zeros_initializer());
    make_slot(graph, variable, "momentum", zeros_initializer());
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate");
    decay_ = hyperparameter(graph, "decay", 0.9);
    momentum_ = hyperparameter(graph, "momentum", 0);
    epsilon_ = hyperparameter(graph, "epsilon", 1e-10);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    const std::vector<Output> inputs = {cast_like(graph, learning_rate_, variable),
                                        cast_like(graph, decay_, variable),
                                        cast_like(graph, momentum_, variable),
                                        cast_like(graph, epsilon_, variable), gradient.values};
    if (centered_) {
      return apply_op(graph, "CenteredRMSProp", variable, gradient, {"mg", "rms", "momentum"},
                      inputs);
    }
    return apply_op(graph, "RMSProp", variable, gradient, {"rms", "momentum"}, inputs);
  }

 private:
  bool centered_;
  Output learning_rate_, decay_, momentum_, epsilon_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(RMSPropRule,
                           "RMSProp",
                           {"var", "ms", "mom"},
                           {"lr: T", "rho: T", "momentum: T", "epsilon: T", "grad: T"});
RUNHOOKS_REGISTER_APPLY_OP(CenteredRMSPropRule,
                           "CenteredRMSProp",
                           {"var", "mg", "ms", "mom"},
                           {"lr: T", "rho: T", "momentum: T", "epsilon: T", "grad: T"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "RMSProp",
    RMSProp,
    "train.RMSPropOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "decay = 0.9: number in [0, 1]. Decay rate of the mean of squared gradients.",
     "momentum = 0: number in [0, Inf). Fraction of the previous step that is added.",
     "epsilon = 1e-10: number in [0, Inf). Small constant that avoids division by zero.",
     "use_locking = FALSE: flag. Ignored.",
     "centered = FALSE: flag; kept. Whether to normalize by the variance of gradients.",
     "name = 'RMSProp': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
