// Follow the regularized leader (tf.train.FtrlOptimizer; McMahan et al. 2013), with L2 shrinkage.
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/kernels.h"
#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

// Computes accum^-lr_power for the default lr_power of -0.5. The square root is much faster than
// pow(), which other powers need.
template <typename T>
struct SquareRoot {
  T operator()(T x) const { return std::sqrt(x); }
};
template <typename T>
struct GeneralPower {
  T exponent;
  T operator()(T x) const { return std::pow(x, exponent); }
};

template <typename T>
struct FtrlParameters {
  T lr, l1, l2, l2_shrinkage;
};

template <typename T, typename Power>
inline void ftrl_element(
    T& var, T& accum, T& linear, T grad, const FtrlParameters<T>& p, const Power& power) {
  const T shrunk = grad + T(2) * p.l2_shrinkage * var;
  const T new_accum = accum + grad * grad;
  const T new_power = power(new_accum);
  linear += shrunk - (new_power - power(accum)) / p.lr * var;
  const T quadratic = new_power / p.lr + T(2) * p.l2;
  const T excess = std::abs(linear) - p.l1;
  var = excess > 0 ? -std::copysign(excess, linear) / quadratic : T(0);
  accum = new_accum;
}

template <typename T, typename Power>
inline void ftrl_update(ApplyInputs<T>& in,
                        const T* grad,
                        const FtrlParameters<T>& p,
                        const Power& power) {
  T *var = in.variable(0), *accum = in.variable(1), *linear = in.variable(2);
  const int64_t n = in.size();
  for (int64_t i = 0; i < n; ++i) ftrl_element(var[i], accum[i], linear[i], grad[i], p, power);
}

inline FtrlRates rates_of(const FtrlParameters<float>& p) {
  return {p.lr, p.l1, p.l2, p.l2_shrinkage};
}

inline void ftrl_update(ApplyInputs<float>& in,
                        const float* grad,
                        const FtrlParameters<float>& p,
                        const SquareRoot<float>&) {
  const FtrlRates rates = rates_of(p);
  kernels().updates->sftrl(in.size(), &rates, in.variable(0), in.variable(1), in.variable(2), grad);
}

// Updates distinct rows of one element, as in a linear model. The rows are gathered in arrays, so
// that roots and divisions are computed with vector instructions.
void ftrl_scalar_rows(ApplyInputs<float>& in, const float* grad, const FtrlParameters<float>& p) {
  constexpr int64_t kBlock = 128;
  float *targets[3][kBlock], values[3][kBlock];
  const FtrlRates rates = rates_of(p);
  const UpdateKernels& updates = *kernels().updates;
  in.set_prefetch_distance(32);  // longer than the default, because a row takes little time
  for (int64_t first = 0; first < in.num_rows(); first += kBlock) {
    const int64_t n = std::min(kBlock, in.num_rows() - first);
    for (int64_t i = 0; i < n; ++i) {
      in.select_row(first + i);
      for (int k = 0; k < 3; ++k) {
        targets[k][i] = in.variable(k);
        values[k][i] = *targets[k][i];
      }
    }
    updates.sftrl(n, &rates, values[0], values[1], values[2], grad + first);
    for (int k = 0; k < 3; ++k) {
      for (int64_t i = 0; i < n; ++i) *targets[k][i] = values[k][i];
    }
  }
}

// Updates the range that `in` selects. If `by_rows` is true, updates each indexed row in turn.
template <typename T, typename Power>
void ftrl_updates(ApplyInputs<T>& in,
                  const FtrlParameters<T>& p,
                  const Power& power,
                  bool by_rows) {
  if (!by_rows) return ftrl_update(in, in.gradient(3), p, power);
  const T* grad = in.gradient(3);
  const int64_t n = in.num_rows(), width = in.size();
  if constexpr (std::is_same_v<T, float> && std::is_same_v<Power, SquareRoot<float>>) {
    if (width == 1 && in.has_distinct_rows()) return ftrl_scalar_rows(in, grad, p);
  }
  for (int64_t i = 0; i < n; ++i, grad += width) {
    in.select_row(i);
    if (width == 1) {
      ftrl_element(*in.variable(0), *in.variable(1), *in.variable(2), *grad, p, power);
    } else {
      ftrl_update(in, grad, p, power);
    }
  }
}

template <typename T>
void ftrl(ApplyInputs<T>& in, const FtrlParameters<T>& parameters, T lr_power, bool by_rows) {
  if (lr_power == T(-0.5)) {
    ftrl_updates(in, parameters, SquareRoot<T>(), by_rows);
  } else {
    ftrl_updates(in, parameters, GeneralPower<T>{-lr_power}, by_rows);
  }
}

// The rule of the ops Ftrl and, if `kShrinks`, FtrlV2, which has the L2 shrinkage as another input.
template <bool kShrinks>
struct FtrlRuleBase {
  static constexpr int kNumVariables = 3;
  static constexpr SparseUpdate kSparse = SparseUpdate::kCustom;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    update(in, false);
  }
  template <typename T>
  static void apply_rows(ApplyInputs<T>& in) {
    update(in, true);
  }
  template <typename T>
  static void update(ApplyInputs<T>& in, bool by_rows) {
    const T shrinkage = kShrinks ? in.scalar(7) : T(0);
    const T lr_power = in.scalar(kShrinks ? 8 : 7);
    ftrl<T>(in, {in.scalar(4), in.scalar(5), in.scalar(6), shrinkage}, lr_power, by_rows);
  }
};
using FtrlRule = FtrlRuleBase<false>;
using FtrlV2Rule = FtrlRuleBase<true>;

class Ftrl : public Optimizer {
 public:
  explicit Ftrl(const Args& args)
      : Optimizer(args.text("name", "Ftrl"), args),
        has_shrinkage_(args.number("l2_shrinkage_regularization_strength", 0) > 0) {}
  std::vector<std::string> penalty_arguments() const override {
    return {"l1_regularization_strength", "l2_regularization_strength",
            "l2_shrinkage_regularization_strength"};
  }

 protected:
  void create_slots(Graph& graph, const VariablePtr& variable) override {
    make_slot(graph, variable, "accum",
              constant_initializer(args().number("initial_accumulator_value", 0.1)),
              args().text("accum_name", ""));
    make_slot(graph, variable, "linear", zeros_initializer(), args().text("linear_name", ""));
  }
  void prepare(Graph& graph) override {
    learning_rate_ = hyperparameter(graph, "learning_rate");
    l1_ = hyperparameter(graph, "l1_regularization_strength", 0);
    l2_ = hyperparameter(graph, "l2_regularization_strength", 0);
    if (has_shrinkage_) {
      l2_shrinkage_ = hyperparameter(graph, "l2_shrinkage_regularization_strength", 0);
    }
    learning_rate_power_ = hyperparameter(graph, "learning_rate_power", -0.5);
  }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    std::vector<Output> inputs = {gradient.values, cast_like(graph, learning_rate_, variable),
                                  cast_like(graph, l1_, variable), cast_like(graph, l2_, variable)};
    if (has_shrinkage_) inputs.push_back(cast_like(graph, l2_shrinkage_, variable));
    inputs.push_back(cast_like(graph, learning_rate_power_, variable));
    return apply_op(graph, has_shrinkage_ ? "FtrlV2" : "Ftrl", variable, gradient,
                    {"accum", "linear"}, inputs);
  }

 private:
  bool has_shrinkage_;
  Output learning_rate_, l1_, l2_, l2_shrinkage_, learning_rate_power_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(FtrlRule,
                           "Ftrl",
                           {"var", "accum", "linear"},
                           {"grad: T", "lr: T", "l1: T", "l2: T", "lr_power: T"});
RUNHOOKS_REGISTER_APPLY_OP(FtrlV2Rule,
                           "FtrlV2",
                           {"var", "accum", "linear"},
                           {"grad: T", "lr: T", "l1: T", "l2: T", "l2_shrinkage: T",
                            "lr_power: T"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "Ftrl",
    Ftrl,
    "train.FtrlOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.",
     "learning_rate_power = -0.5: number in (-Inf, 0]. Exponent by which the learning "
     "rate falls; 0 for a constant rate.",
     "initial_accumulator_value = 0.1: number in [0, Inf). Initial sum of squared gradients.",
     "l1_regularization_strength = 0: number in [0, Inf). L1 penalty.",
     "l2_regularization_strength = 0: number in [0, Inf). L2 penalty.",
     "use_locking = FALSE: flag. Ignored.",
     "name = 'Ftrl': string; kept. Name scope of the training op and its slots.",
     "accum_name = NULL: string. Name of the accumulator slot; the default is `name`.",
     "linear_name = NULL: string. Name of the linear slot; the default is `name`.",
     "l2_shrinkage_regularization_strength = 0: number in [0, Inf). L2 penalty that is "
     "added to the gradient but not to its square."});

}  // namespace runhooks
