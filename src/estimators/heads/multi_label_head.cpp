// Multi-label classification: an example can have several classes (tf.estimator.MultiLabelHead).
// Labels are a [batch, n_classes] matrix of 0 and 1.
#include "estimators/heads/head_base.h"
#include "estimators/heads/threshold_metrics.h"
#include "nn/nn_functions.h"

namespace runhooks {

namespace {

class MultiLabelHead : public HeadBase {
 public:
  explicit MultiLabelHead(const Args& args)
      : HeadBase(args),
        n_classes_(args.integer("n_classes")),
        thresholds_(thresholds_argument(args)),
        vocabulary_(vocabulary_argument(args, n_classes_)) {
    if (n_classes_ < 2) {
      invalid_argument("n_classes must be > 1 for multi-label classification. Given: ", n_classes_,
                       ".");
    }
  }
  int64_t logits_dimension() const override { return n_classes_; }
  LabelSpec labels() const override { return multi_label_spec(n_classes_, vocabulary_); }

 private:
  Named<Output> predictions(Graph& graph, Output logits) const override {
    NameScope scope(graph, "predictions");
    Named<Output> all = {{"logits", logits},
                         {"probabilities", graph.op("Sigmoid", {logits}).named("probabilities")}};
    Named<Output> classes;
    add_all_classes(graph, logits, n_classes_, vocabulary_, &classes);
    all.emplace_back("classes", classes.back().second);
    return all;
  }

  Output checked_labels(Graph& graph, Output labels, Output logits) const override {
    NameScope scope(graph, "labels");
    labels = two_dimensional_labels(graph, labels, logits, n_classes_);
    return class_labels(graph, labels, 2, {}, /*as_ids=*/false);
  }

  Output losses(Graph& graph, Output labels, Output logits) const override {
    const Output label_losses = sigmoid_cross_entropy_with_logits(graph, labels, logits);
    return graph.op("Mean", {label_losses, graph.int_vector({1})}).attr("keep_dims", true);
  }

  Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const override {
    const Output probabilities = batch.prediction("probabilities");
    Named<Metric> all = {
        {key("average_loss"), mean_metric(graph, batch.losses, batch.weights, "average_loss")},
    };
    for (auto& metric :
         area_metrics(graph, batch.labels, probabilities, batch.weights, "careful_interpolation")) {
      all.emplace_back(key(metric.first), metric.second);
    }
    for (auto& metric :
         threshold_metrics(graph, batch.labels, probabilities, batch.weights, thresholds_)) {
      all.emplace_back(key(metric.first), metric.second);
    }
    return all;
  }

  Named<ExportOutput> signatures(const Named<Output>& predictions) const override {
    return {classification_signature(prediction_of(predictions, "probabilities"),
                                     prediction_of(predictions, "classes"))};
  }

  int64_t n_classes_;
  std::vector<float> thresholds_;
  std::vector<std::string> vocabulary_;
};

}  // namespace

RUNHOOKS_REGISTER_HEAD("multi_label_head",
                       MultiLabelHead,
                       "Multi-label classification. Labels are a matrix of 0 and 1, or, with a "
                       "vocabulary, a list column of class names.",
                       "n_classes",
                       "thresholds",
                       "weight_column",
                       "label_vocabulary",
                       "loss_reduction",
                       "name");

}  // namespace runhooks
