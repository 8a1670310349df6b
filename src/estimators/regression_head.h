// What lives here: RegressionHead, squared errors of numbers; other regressions change its link and its loss.
// Who may use it: one file a head.
// What it must not know: where the logits come from, R.
#pragma once

#include "columns/standardization.h"
#include "estimators/head_base.h"

namespace runhooks {

// tf.estimator's RegressionHead. Where it is given `label_center` and `label_scale`, the logits and
// what is minimized are of standardized labels; predictions, losses and metrics are of the labels
// as they are.
class RegressionHead : public HeadBase {
 public:
  explicit RegressionHead(const Args& args);
  int64_t logits_dimension() const override { return label_dimension_; }
  LabelSpec labels() const override;

 protected:
  // For heads whose labels are never standardized.
  RegressionHead(const Args& args, Standardization standardization);
  // From logits to predictions: in the units of the labels.
  virtual Output inverse_link(Graph& graph, Output logits) const;
  virtual bool has_link() const { return false; }
  Output losses(Graph& graph, Output labels, Output logits) const override;
  Output losses_of_data(Graph& graph, Output losses) const override;

 private:
  Named<Output> predictions(Graph& graph, Output logits) const override;
  Output checked_labels(Graph& graph, Output labels, Output logits) const override;
  Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const override;
  Named<ExportOutput> signatures(const Named<Output>& predictions) const override;

  int64_t label_dimension_;
  Standardization standardization_;  // of the labels
};

}  // namespace runhooks
