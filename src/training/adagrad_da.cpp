// Adagrad with dual averaging (tf.train.AdagradDAOptimizer; Duchi et al. 2011).
#include <algorithm>
#include <cmath>

#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct AdagradDARule {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kElementwise;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *sum = in.variable(1), *squares = in.variable(2);
    const T* grad = in.gradient(3);
    const T lr = in.scalar(4), l1 = in.scalar(5), l2 = in.scalar(6);
    const T step = static_cast<T>(in.int64_scalar(7));
    for (int64_t i = 0; i < in.size(); ++i) {
      sum[i] += grad[i];
      squares[i] += grad[i] * grad[i];
      const T magnitude = std::max(std::abs(sum[i]) - l1 * step, T(0));
      const T shrunk = l1 > 0 ? std::copysign(magnitude, sum[i]) : sum[i];
      var[i] = -lr * shrunk / (l2 * step * lr + std::sqrt(squares[i]));
    }
  }
};

class AdagradDA : public Optimizer {
 public:
  explicit AdagradDA(const Args& args) : Optimizer(args.text("name", "AdagradDA"), args) {}
  std::vector<std::string> penalty_arguments() const override {
    return {"l1_regularization_strength", "l2_regularization_strength"};
  }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "gradient_accumulator", zeros_initializer());
    make_slot(
        graph, variable, "gradient_squared_accumulator",
        constant_initializer(args().number("initial_gradient_squared_accumulator_value", 0.1)));
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate");
    l1_ = hyperparameter(graph, "l1_regularization_strength", 0);
    l2_ = hyperparameter(graph, "l2_regularization_strength", 0);
    // Adds an input to the update ops: the number of the current step, counted from 1.
    const Value* argument = args().find("global_step");
    const auto* variable = argument ? argument->get_if<VariablePtr>() : nullptr;
    if (argument && !variable) {
      invalid_argument("`global_step` of ", args().owner(), " must be a variable, not ",
                       argument->kind(), ".");
    }
    const VariablePtr step = variable ? *variable : get_or_create_global_step(graph);
    const Output one = graph.scalar(DType::kInt64, 1);
    next_step_ = graph.op("AddV2", {step->snapshot, one}).named("add");
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    return apply_op(graph, "AdagradDA", variable, gradient,
                    {"gradient_accumulator", "gradient_squared_accumulator"},
                    {gradient.values, cast_like(graph, learning_rate_, variable),
                     cast_like(graph, l1_, variable), cast_like(graph, l2_, variable), next_step_});
  }

 private:
  Output learning_rate_, l1_, l2_, next_step_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdagradDARule,
                           "AdagradDA",
                           {"var", "gradient_accumulator", "gradient_squared_accumulator"},
                           {"grad: T", "lr: T", "l1: T", "l2: T", "global_step: int64"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "AdagradDA",
    AdagradDA,
    "train.AdagradDAOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "global_step = NULL: any. Global step variable; the default is that of the graph.",
     "initial_gradient_squared_accumulator_value = 0.1: number in (0, Inf). Initial "
     "sum of squared gradients.",
     "l1_regularization_strength = 0: number in [0, Inf). L1 penalty.",
     "l2_regularization_strength = 0: number in [0, Inf). L2 penalty.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'AdagradDA': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
