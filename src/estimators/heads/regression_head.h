// RegressionHead: regression with squared error, and the base of heads with other links and losses.
#pragma once

#include "columns/standardization.h"
#include "estimators/heads/head_base.h"

namespace runhooks {

// tf.estimator's RegressionHead. With `label_center` and `label_scale`, logits and the minimized
// loss refer to standardized labels; predictions, reported losses and metrics are in label units.
class RegressionHead : public HeadBase {
 public:
  explicit RegressionHead(const Args& args);
  int64_t logits_dimension() const override { return label_dimension_; }
  LabelSpec labels() const override;

 protected:
  RegressionHead(const Args& args, Standardization standardization);
  virtual Output inverse_link(Graph& graph, Output logits) const;
  virtual bool has_link() const { return false; }
  Output losses(Graph& graph, Output labels, Output logits) const override;
  Output losses_in_label_units(Graph& graph, Output losses) const override;

 private:
  Named<Output> predictions(Graph& graph, Output logits) const override;
  Output checked_labels(Graph& graph, Output labels, Output logits) const override;
  Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const override;
  Named<ExportOutput> signatures(const Named<Output>& predictions) const override;

  int64_t label_dimension_;
  Standardization standardization_;  // center and scale of the labels
};

}  // namespace runhooks
