// Adam (tf.train.AdamOptimizer; Kingma and Ba 2015, with the correction of the bias in the learning
// rate).
#include <cmath>

#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct AdamRule {
  static constexpr int kRefs = 3;
  static constexpr SparseForm kSparse = SparseForm::kOwn;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T *var = in.variable(0), *m = in.variable(1), *v = in.variable(2);
    const T beta1_power = in.scalar(3), beta2_power = in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T* grad = in.gradient(9);
    const T alpha = lr * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    for (int64_t i = 0; i < in.size(); ++i) {
      m[i] += (grad[i] - m[i]) * (T(1) - beta1);
      v[i] += (grad[i] * grad[i] - v[i]) * (T(1) - beta2);
      var[i] -= m[i] * alpha / (std::sqrt(v[i]) + epsilon);
    }
  }
  // TensorFlow 1's: all of m and v decay and all of the variable moves, rows without a gradient
  // too.
  template <typename T>
  static void apply_rows(ApplyInputs<T>& in) {
    const T beta1_power = in.scalar(3), beta2_power = in.scalar(4), lr = in.scalar(5);
    const T beta1 = in.scalar(6), beta2 = in.scalar(7), epsilon = in.scalar(8);
    const T alpha = lr * std::sqrt(T(1) - beta2_power) / (T(1) - beta1_power);
    const int64_t n = in.whole_size();
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

class Adam : public Optimizer {
 public:
  explicit Adam(const Args& args) : Optimizer(args.text("name", "Adam"), args) {
    check_not_negative(args, "learning_rate");
    check_between(args, "beta1", 0, 1);
    check_between(args, "beta2", 0, 1);
    check_positive(args, "epsilon");
  }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "m", zeros_initializer());
    make_slot(graph, variable, "v", zeros_initializer());
  }
  // The powers of the betas belong to the optimizer: one pair for all variables.
  void create_own_variables(Graph& graph, const VariablePtr& first) override {
    if (beta1_power_) return;
    VariableOptions options;
    options.trainable = false;
    options.use_resource = first->is_resource;
    auto power = [&](const char* beta, double otherwise, const char* name) {
      const Output initial = graph.scalar(DType::kFloat32, args().number(beta, otherwise),
                                          str_cat(name, "/initial_value"));
      return make_variable(graph, initial, name, options);
    };
    beta1_power_ = power("beta1", 0.9, "beta1_power");
    beta2_power_ = power("beta2", 0.999, "beta2_power");
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate", 0.001);
    beta1_ = hyperparameter(graph, "beta1", 0.9);
    beta2_ = hyperparameter(graph, "beta2", 0.999);
    epsilon_ = hyperparameter(graph, "epsilon", 1e-8);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    auto like_variable = [&](Output x) { return like(graph, x, variable); };
    return apply_op(graph, "Adam", variable, gradient, {"m", "v"},
                    {like_variable(beta1_power_->snapshot), like_variable(beta2_power_->snapshot),
                     like_variable(learning_rate_), like_variable(beta1_), like_variable(beta2_),
                     like_variable(epsilon_), gradient.values});
  }
  Operation* finish(Graph& graph, const std::vector<Operation*>& updates) override {
    std::vector<Operation*> all = updates;
    {
      ControlDependencies after(graph, updates);
      const Output next1 = graph.op("Mul", {beta1_power_->snapshot, beta1_}).named("mul");
      const Output next2 = graph.op("Mul", {beta2_power_->snapshot, beta2_}).named("mul");
      const char* type = beta1_power_->is_resource ? "AssignVariableOp" : "Assign";
      all.push_back(graph.op(type, {beta1_power_->handle, next1}).named("Assign"));
      all.push_back(graph.op(type, {beta2_power_->handle, next2}).named("Assign"));
    }
    return graph.group(all, "update");
  }

 private:
  VariablePtr beta1_power_, beta2_power_;
  Output learning_rate_, beta1_, beta2_, epsilon_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(AdamRule,
                           "Adam",
                           {"var", "m", "v"},
                           {"beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T",
                            "epsilon: T", "grad: T"},
                           {"use_nesterov: bool = false"});
RUNHOOKS_REGISTER_OPTIMIZER("Adam", Adam);

}  // namespace runhooks
