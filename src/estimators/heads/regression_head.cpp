#include "estimators/heads/regression_head.h"

namespace runhooks {

RegressionHead::RegressionHead(const Args& args)
    : RegressionHead(args,
                     Standardization(
                         args, "label_center", "label_scale", args.integer("label_dimension", 1))) {
}

RegressionHead::RegressionHead(const Args& args, Standardization standardization)
    : HeadBase(args),
      label_dimension_(args.integer("label_dimension", 1)),
      standardization_(std::move(standardization)) {
  if (label_dimension_ < 1) {
    invalid_argument("`label_dimension` must be 1 or more, not ", label_dimension_, ".");
  }
}

LabelSpec RegressionHead::labels() const {
  LabelSpec labels;
  labels.width = label_dimension_;
  labels.width_argument = "label_dimension";
  labels.family = "gaussian";
  labels.predictions = {{"numeric", "predictions", TidyPrediction::Columns::kNumbers, {}}};
  return labels;
}

Output RegressionHead::inverse_link(Graph& graph, Output logits) const {
  return standardization_ ? standardization_.invert(graph, logits) : logits;
}

Named<Output> RegressionHead::predictions(Graph& graph, Output logits) const {
  Named<Output> all = {{"predictions", inverse_link(graph, logits)}};
  if (has_link()) all.emplace_back("logits", logits);
  return all;
}

Output RegressionHead::checked_labels(Graph& graph, Output labels, Output logits) const {
  if (!is_numeric(labels.dtype()) && labels.dtype() != DType::kBool) {
    throw Error(Code::kInvalidArgument,
                str_cat("The labels of a regressor must be numbers; got type ",
                        dtype_name(labels.dtype()), "."),
                {"If a CSV file has a word such as NA for missing values, set `na_value` in "
                 "make_csv_dataset()."});
  }
  NameScope scope(graph, "labels");
  labels = two_dimensional_labels(graph, labels, logits, label_dimension_);
  if (standardization_) labels = standardization_.apply(graph, labels);
  if (labels.dtype() == DType::kFloat32) return labels;
  return graph.op("Cast", {labels}).attr("DstT", DType::kFloat32);
}

Output RegressionHead::losses(Graph& graph, Output labels, Output logits) const {
  return mean_squared_error(graph, labels, logits, Output(), Reduction::kNone, "mean_squared_error",
                            standardization_ ? "" : collection_keys::kLosses);
}

// Histories and the progress bar read the first entry of the losses collection, so only the losses
// in label units are added to it.
Output RegressionHead::losses_in_label_units(Graph& graph, Output losses) const {
  if (!standardization_) return losses;
  const Output squares = standardization_.unscale_squares(graph, losses);
  graph.add_to_collection(collection_keys::kLosses, squares);
  return squares;
}

Named<Metric> RegressionHead::metrics(Graph& graph, const HeadBatch& batch) const {
  const Output labels =
      standardization_ ? standardization_.invert(graph, batch.labels) : batch.labels;
  return {
      {key("average_loss"), mean_metric(graph, batch.losses, batch.weights, "average_loss")},
      {key("label/mean"), mean_metric(graph, labels, batch.weights, "label/mean")},
      {key("prediction/mean"),
       mean_metric(graph, batch.prediction("predictions"), batch.weights, "prediction/mean")},
  };
}

Named<ExportOutput> RegressionHead::signatures(const Named<Output>& predictions) const {
  return {regression_signature(prediction_of(predictions, "predictions"))};
}

RUNHOOKS_REGISTER_HEAD("regression_head",
                       RegressionHead,
                       "Regression with squared error.",
                       "label_dimension",
                       "weight_column",
                       "loss_reduction",
                       "name",
                       "label_center = NULL: numbers; kept",
                       "label_scale = NULL: numbers; kept");

}  // namespace runhooks
