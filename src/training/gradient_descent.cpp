// Stochastic gradient descent (tf.train.GradientDescentOptimizer).
#include "training/apply_kernel.h"
#include "training/optimizer.h"

namespace runhooks {

namespace {

struct GradientDescentRule {
  static constexpr int kNumVariables = 1;
  static constexpr SparseUpdate kSparse = SparseUpdate::kNone;
  template <typename T>
  static void apply(ApplyInputs<T>& in) {
    T* var = in.variable(0);
    const T alpha = in.scalar(1);
    const T* grad = in.gradient(2);
    for (int64_t i = 0; i < in.size(); ++i) var[i] -= grad[i] * alpha;
  }
};

class GradientDescent : public Optimizer {
 public:
  explicit GradientDescent(const Args& args)
      : Optimizer(args.text("name", "GradientDescent"), args) {}

 protected:
  void prepare(Graph& graph) override { learning_rate_ = hyperparameter(graph, "learning_rate"); }
  Operation* apply(Graph& graph, const Variable& variable, const Gradient& gradient) override {
    if (gradient.is_indexed_slices()) {
      const Output step =
          graph.op("Mul", {gradient.values, cast_like(graph, learning_rate_, variable)});
      const bool is_resource = variable.is_resource;
      return graph
          .op(is_resource ? "ResourceScatterSub" : "ScatterSub",
              {variable.handle, gradient.indices, step})
          .attr(is_resource ? "dtype" : "T", variable.dtype)
          .build();
    }
    return apply_op(graph, "GradientDescent", variable, gradient, {},
                    {cast_like(graph, learning_rate_, variable), gradient.values});
  }

 private:
  Output learning_rate_;
};

}  // namespace

RUNHOOKS_REGISTER_APPLY_OP(GradientDescentRule,
                           "GradientDescent",
                           {"var"},
                           {"alpha: T", "delta: T"});
RUNHOOKS_REGISTER_OPTIMIZER(
    "SGD",
    GradientDescent,
    "train.GradientDescentOptimizer",
    {"learning_rate: number in [0, Inf). Learning rate.", "use_locking = FALSE: flag. Ignored.",
     "name = 'GradientDescent': string; kept. Name scope of the training op and its slots."});

}  // namespace runhooks
