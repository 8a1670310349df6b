// Regression of probabilities (tf.estimator.LogisticRegressionHead).
#include "estimators/heads/regression_head.h"
#include "nn/nn_functions.h"

namespace runhooks {

namespace {

class LogisticRegressionHead : public RegressionHead {
 public:
  explicit LogisticRegressionHead(const Args& args) : RegressionHead(args, Standardization()) {}
  LabelSpec labels() const override {
    LabelSpec labels = RegressionHead::labels();
    labels.family = "binomial";
    labels.lowest = 0;
    labels.highest = 1;
    return labels;
  }

 protected:
  bool has_link() const override { return true; }
  Output inverse_link(Graph& graph, Output logits) const override {
    return graph.op("Sigmoid", {logits});
  }
  Output losses(Graph& graph, Output labels, Output logits) const override {
    const Output zero = graph.scalar(DType::kFloat32, 0, "zero");
    const Output one = graph.scalar(DType::kFloat32, 1, "one");
    const Output is_in_range = graph.op("LogicalAnd", {graph.op("GreaterEqual", {labels, zero}),
                                                       graph.op("LessEqual", {labels, one})});
    labels = with_assertion(graph, labels, is_in_range, "Labels must be in the range [0, 1].");
    return sigmoid_cross_entropy_with_logits(graph, labels, logits);
  }
};

}  // namespace

RUNHOOKS_REGISTER_HEAD("logistic_regression_head",
                       LogisticRegressionHead,
                       "Regression of probabilities. Labels are between 0 and 1.",
                       "weight_column",
                       "loss_reduction",
                       "name");

}  // namespace runhooks
