// Gradient descent with classical or Nesterov momentum (tf.train.MomentumOptimizer).
#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct MomentumRule {
  static constexpr int kNumVariables = 2;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *accum = in.variable(1);
    const T lr = in.scalar(2), momentum = in.scalar(4);
    const T* grad = in.gradient(3);
    const bool nesterov = in.op().attr_bool("use_nesterov");
    for (int64_t i = 0; i < in.size(); ++i) {
      accum[i] = accum[i] * momentum + grad[i];
      var[i] -= nesterov ? grad[i] * lr + accum[i] * momentum * lr : accum[i] * lr;
    }
  }
};

class Momentum : public Optimizer {
 public:
  explicit Momentum(const Args& args) : Optimizer(args.text("name", "Momentum"), args) {}

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "momentum", zeros_initializer());
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate");
    momentum_ = hyperparameter(graph, "momentum");
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(graph, "Momentum", variable, gradient, {"momentum"},
                    {cast_like(graph, learning_rate_, variable), gradient.values,
                     cast_like(graph, momentum_, variable)},
                    {{"use_nesterov", args().flag("use_nesterov", false)}});
  }

 private:
  Output learning_rate_, momentum_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(MomentumRule,
                           "Momentum",
                           {"var", "accum"},
                           {"lr: T", "grad: T", "momentum: T"},
                           {"use_nesterov: bool = false"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "Momentum",
    Momentum,
    "train.MomentumOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "momentum: number in [0, Inf). Fraction of the previous step that is added.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'Momentum': string; kept. Name scope of the training op and its slots.",
     "use_nesterov = FALSE: flag. Whether to use Nesterov momentum."});

}  // namespace runhooks
