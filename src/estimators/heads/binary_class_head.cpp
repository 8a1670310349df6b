// Binary classification with one logit (_BinaryLogisticHeadWithSigmoidCrossEntropyLoss in
// TensorFlow 1.x).
#include "estimators/heads/head_base.h"
#include "estimators/heads/threshold_metrics.h"
#include "graph/endpoints.h"
#include "nn/nn_functions.h"

namespace runhooks {

namespace {

class BinaryClassHead : public HeadBase {
 public:
  explicit BinaryClassHead(const Args& args)
      : HeadBase(args),
        thresholds_(thresholds_argument(args)),
        auc_summation_(args.text("auc_summation", "careful_interpolation")),
        vocabulary_(vocabulary_argument(args, 2)) {}
  int64_t logits_dimension() const override { return 1; }
  LabelSpec labels() const override { return class_label_spec(2, vocabulary_); }

 private:
  Named<Output> predictions(Graph& graph, Output logits) const override {
    NameScope scope(graph, "predictions");
    const Output logistic = graph.op("Sigmoid", {logits}).named("logistic");
    const Output zeros = graph.op("ZerosLike", {logits});
    const Output axis = graph.scalar(DType::kInt32, -1, "axis");
    const Output both = graph.op("ConcatV2", {zeros, logits, axis}).named("two_class_logits");
    const Output probabilities = softmax(graph, both);
    const Output best = graph.op("ArgMax", {both, axis});
    const Output class_ids = graph.op("ExpandDims", {best, axis}).named("class_ids");
    Named<Output> all = {{"logits", logits},
                         {"logistic", logistic},
                         {"probabilities", probabilities},
                         {"class_ids", class_ids},
                         {"classes", class_strings(graph, class_ids, vocabulary_)}};
    add_all_classes(graph, logits, 2, vocabulary_, &all);
    return all;
  }

  Output checked_labels(Graph& graph, Output labels, Output logits) const override {
    NameScope scope(graph, "labels");
    labels = two_dimensional_labels(graph, labels, logits, 1);
    labels = class_labels(graph, labels, 2, vocabulary_, /*as_ids=*/false);
    add_endpoint(graph, kBinaryLabels, "", labels);
    return labels;
  }

  Output losses(Graph& graph, Output labels, Output logits) const override {
    return sigmoid_cross_entropy_with_logits(graph, labels, logits);
  }

  Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const override {
    const Output& labels = batch.labels;
    const Output& weights = batch.weights;
    const Output logistic = batch.prediction("logistic"), ids = batch.prediction("class_ids");
    const Metric label_mean = mean_metric(graph, labels, weights, "label/mean");
    Named<Metric> all = {
        {key("average_loss"), mean_metric(graph, batch.losses, weights, "average_loss")},
        {key("accuracy"), accuracy_metric(graph, labels, ids, weights, "accuracy")},
        {key("precision"), precision_metric(graph, labels, ids, weights, "precision")},
        {key("recall"), recall_metric(graph, labels, ids, weights, "recall")},
        {key("prediction/mean"), mean_metric(graph, logistic, weights, "prediction/mean")},
        {key("label/mean"), label_mean},
        {key("accuracy_baseline"), accuracy_baseline(graph, label_mean)},
    };
    for (auto& metric : area_metrics(graph, labels, logistic, weights, auc_summation_)) {
      all.emplace_back(key(metric.first), metric.second);
    }
    for (auto& metric : threshold_metrics(graph, labels, logistic, weights, thresholds_)) {
      all.emplace_back(key(metric.first), metric.second);
    }
    return all;
  }

  Named<ExportOutput> signatures(const Named<Output>& predictions) const override {
    return {classification_signature(prediction_of(predictions, "probabilities"),
                                     prediction_of(predictions, "all_classes")),
            regression_signature(prediction_of(predictions, "logistic"))};
  }

  // Returns the accuracy of always predicting the more frequent class.
  static Metric accuracy_baseline(Graph& graph, const Metric& label_mean) {
    NameScope scope(graph, "accuracy_baseline");
    const Output one = graph.scalar(DType::kFloat32, 1, "one");
    const Output other = graph.op("Sub", {one, label_mean.value});
    Metric baseline;
    baseline.value = graph.op("Maximum", {label_mean.value, other});
    baseline.update = label_mean.update;
    return baseline;
  }

  std::vector<float> thresholds_;
  std::string auc_summation_;
  std::vector<std::string> vocabulary_;
};

}  // namespace

RUNHOOKS_REGISTER_HEAD("binary_class_head",
                       BinaryClassHead,
                       "Binary classification with the sigmoid of one logit.",
                       "thresholds",
                       "weight_column",
                       "label_vocabulary",
                       "loss_reduction",
                       "name",
                       "auc_summation = 'careful_interpolation': string",
                       "class_weights");

}  // namespace runhooks
