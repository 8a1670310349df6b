// Quantile regression for several quantiles at once (Koenker and Bassett 1978).
#include "columns/standardization.h"
#include "estimators/heads/head_base.h"

namespace runhooks {

namespace {

class QuantileHead : public HeadBase {
 public:
  explicit QuantileHead(const Args& args)
      : HeadBase(args),
        quantiles_(args.numbers("quantiles")),
        standardization_(args, "label_center", "label_scale", 1) {
    for (size_t i = 0; i < quantiles_.size(); ++i) {
      const double q = quantiles_[i], previous = i == 0 ? 0 : quantiles_[i - 1];
      if (!(q > previous && q < 1)) {
        invalid_argument("`quantiles` must be increasing numbers between 0 and 1; element ", i + 1,
                         " is ", q, ".");
      }
    }
  }
  int64_t logits_dimension() const override { return static_cast<int64_t>(quantiles_.size()); }
  LabelSpec labels() const override {
    LabelSpec labels;
    labels.predictions = {{"quantile", "predictions", TidyPrediction::Columns::kNumbers, {}}};
    for (const double q : quantiles_) labels.predictions[0].names.push_back(str_cat(q));
    return labels;
  }

 private:
  Named<Output> predictions(Graph& graph, Output logits) const override {
    return {{"predictions", standardization_ ? standardization_.invert(graph, logits) : logits}};
  }

  Output checked_labels(Graph& graph, Output labels, Output logits) const override {
    if (!is_numeric(labels.dtype()) && labels.dtype() != DType::kBool) {
      invalid_argument("The labels of quantile_head() must be numbers; got type ",
                       dtype_name(labels.dtype()), ".");
    }
    const NameScope scope(graph, "labels");
    labels = two_dimensional_labels(graph, labels, logits, 1);
    if (standardization_) labels = standardization_.apply(graph, labels);
    if (labels.dtype() == DType::kFloat32) return labels;
    return graph.op("Cast", {labels}).attr("DstT", DType::kFloat32);
  }

  // Returns the mean pinball loss over the quantiles. For quantile q, a prediction that is too low
  // by 1 costs q, and one that is too high by 1 costs 1 - q. The true quantile minimizes this loss.
  Output losses(Graph& graph, Output labels, Output logits) const override {
    const NameScope scope(graph, "quantile_loss");
    const std::vector<float> levels(quantiles_.begin(), quantiles_.end());
    const Output q = graph.constant(Tensor::of<float>(Shape{logits_dimension()}, levels), "q");
    const Output one = graph.scalar(DType::kFloat32, 1, "one");
    Output error = graph.op("Sub", {labels, logits});
    if (standardization_) error = standardization_.unscale_differences(graph, error);
    const Output cost_if_low = graph.op("Mul", {q, error});
    const Output cost_if_high = graph.op("Mul", {graph.op("Sub", {q, one}), error});
    const Output quantile_losses = graph.op("Maximum", {cost_if_low, cost_if_high});
    return graph.op("Mean", {quantile_losses, graph.int_vector({1})}).attr("keep_dims", true);
  }

  // "coverage/0.1" is the fraction of labels at or below the predicted 0.1 quantile.
  Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const override {
    Named<Metric> all = {
        {key("average_loss"), mean_metric(graph, batch.losses, batch.weights, "average_loss")}};
    const Output is_covered = graph.op("LessEqual", {batch.labels, batch.logits});
    const Output covered = graph.op("Cast", {is_covered}).attr("DstT", DType::kFloat32);
    for (size_t i = 0; i < quantiles_.size(); ++i) {
      const Output begin = graph.int_vector({0, static_cast<int32_t>(i)}, "begin");
      const Output covered_by_quantile =
          graph.op("Slice", {covered, begin, graph.int_vector({-1, 1}, "size")});
      const std::string name = str_cat("coverage/", quantiles_[i]);
      all.emplace_back(key(name), mean_metric(graph, covered_by_quantile, batch.weights, name));
    }
    return all;
  }

  Named<ExportOutput> signatures(const Named<Output>& predictions) const override {
    return {regression_signature(prediction_of(predictions, "predictions"))};
  }

  std::vector<double> quantiles_;
  Standardization standardization_;  // for the labels; losses are in label units
};

}  // namespace

RUNHOOKS_REGISTER_HEAD("quantile_head",
                       QuantileHead,
                       "Quantile regression for several quantiles.",
                       "quantiles = c(0.1, 0.5, 0.9): probabilities; kept. The quantiles to "
                       "predict: increasing numbers between 0 and 1.",
                       "weight_column",
                       "loss_reduction",
                       "name",
                       "label_center = NULL: numbers; kept",
                       "label_scale = NULL: numbers; kept");

}  // namespace runhooks
