// Adam with decoupled weight decay (tf.contrib.opt.AdamWOptimizer; Loshchilov and Hutter 2019).
#include <cmath>

#include "autodiff/gradients.h"
#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

// The decay is a share of the variable itself, taken off before the step, and not of the gradient.
struct AdamWRule {
  static constexpr int kRefs = 3;
  static constexpr SparseForm kSparse = SparseForm::kNone;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1), *v = in.variable(2);
    const T beta1_power = in.scalar(3), beta2_power = in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T kept = T(1) - in.scalar(9);
    const T* grad = in.gradient(10);
    const T alpha = lr * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] += (grad[i] - m[i]) * (T(1) - beta1);
      v[i] += (grad[i] * grad[i] - v[i]) * (T(1) - beta2);
      var[i] = var[i] * kept - m[i] * alpha / (std::sqrt(v[i]) + epsilon);
    }
  }
};

class AdamW : public Optimizer {
 public:
  explicit AdamW(const Args& args) : Optimizer(args.text("name", "AdamW"), args) {
    check_not_negative(args, "learning_rate");
    check_not_negative(args, "weight_decay");
    check_between(args, "beta1", 0, 1);
    check_between(args, "beta2", 0, 1);
    check_positive(args, "epsilon");
  }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "m", zeros_initializer());
    make_slot(graph, variable, "v", zeros_initializer());
  }
  void create_own_variables(Graph& graph, const VariablePtr& first) override {
    if (beta1_power_) return;
    beta1_power_ = power(graph, first, "beta1", 0.9);
    beta2_power_ = power(graph, first, "beta2", 0.999);
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate", 0.001);
    beta1_ = hyperparameter(graph, "beta1", 0.9);
    beta2_ = hyperparameter(graph, "beta2", 0.999);
    epsilon_ = hyperparameter(graph, "epsilon", 1e-8);
    weight_decay_ = hyperparameter(graph, "weight_decay");
  }
  // Weight decay moves every row, so a gradient of rows is no saving.
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    const Gradient dense = dense_gradient(graph, gradient);
    std::vector<Output> inputs;
    for (const Output& x : {beta1_power_->snapshot, beta2_power_->snapshot, learning_rate_, beta1_,
                            beta2_, epsilon_, weight_decay_}) {
      inputs.push_back(like(graph, x, variable));
    }
    inputs.push_back(dense.values);
    return apply_op(graph, "AdamW", variable, dense, {"m", "v"}, inputs);
  }
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override {
    std::vector<Operation*> all = updates;
    {
      ControlDependencies after(graph, updates);
      all.push_back(next_power(graph, beta1_power_, beta1_));
      all.push_back(next_power(graph, beta2_power_, beta2_));
    }
    return graph.group(all, "update");
  }

 private:
  VariablePtr power(Graph& graph, const VariablePtr& like, const char* beta, double otherwise) {
    VariableOptions options;
    options.trainable = false;
    options.use_resource = like->is_resource;
    const std::string name = str_cat(beta, "_power");
    const Output initial =
        graph.scalar(DType::kFloat32, args().number(beta, otherwise), name + "/initial_value");
    return make_variable(graph, initial, name, options);
  }
  static Operation* next_power(Graph& graph, const VariablePtr& power, Output beta) {
    const Output next = graph.op("Mul", {power->snapshot, beta}).named("mul");
    const char* type = power->is_resource ? "AssignVariableOp" : "Assign";
    return graph.op(type, {power->handle, next}).named("Assign");
  }

  VariablePtr beta1_power_, beta2_power_;
  Output learning_rate_, beta1_, beta2_, epsilon_, weight_decay_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdamWRule,
                           "AdamW",
                           {"var", "m", "v"},
                           {"beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T",
                            "epsilon: T", "weight_decay: T", "grad: T"});
RUNHOOKS_REGISTER_OPTIMIZER("AdamW", AdamW);

}  // namespace runhooks
