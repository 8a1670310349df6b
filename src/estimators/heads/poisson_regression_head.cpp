// Poisson regression (tf.estimator.PoissonRegressionHead): the log of the mean is linear.
#include "estimators/heads/regression_head.h"
#include "nn/nn_functions.h"

namespace runhooks {

namespace {

class PoissonRegressionHead : public RegressionHead {
 public:
  explicit PoissonRegressionHead(const Args& args)
      : RegressionHead(args, Standardization()), full_loss_(args.flag("compute_full_loss", true)) {}
  // The full loss contains the logarithm of the label, so labels must not be negative.
  LabelSpec labels() const override {
    LabelSpec labels = RegressionHead::labels();
    labels.family = "poisson";
    if (full_loss_) labels.lowest = 0;
    return labels;
  }

 protected:
  bool has_link() const override { return true; }
  Output inverse_link(Graph& graph, Output logits) const override {
    return graph.op("Exp", {logits});
  }
  Output losses(Graph& graph, Output labels, Output logits) const override {
    return log_poisson_loss(graph, labels, logits, full_loss_);
  }

 private:
  bool full_loss_;
};

}  // namespace

RUNHOOKS_REGISTER_HEAD(
    "poisson_regression_head",
    PoissonRegressionHead,
    "Poisson regression of counts. The logits are logarithms of the mean.",
    "label_dimension",
    "weight_column",
    "compute_full_loss = TRUE: flag; kept. Include Stirling's approximation of the constant part "
    "of the loss?",
    "loss_reduction",
    "name");

}  // namespace runhooks
