// Multi-class classification with one logit per class
// (_MultiClassHeadWithSoftmaxCrossEntropyLoss in TensorFlow 1.x).
#include "estimators/heads/head_base.h"
#include "nn/nn_functions.h"

namespace runhooks {

namespace {

class MultiClassHead : public HeadBase {
 public:
  explicit MultiClassHead(const Args& args)
      : HeadBase(args),
        n_classes_(args.integer("n_classes")),
        vocabulary_(vocabulary_argument(args, n_classes_)) {
    if (n_classes_ <= 2) {
      invalid_argument("n_classes must be > 2: ", n_classes_, ".");
    }
  }
  int64_t logits_dimension() const override { return n_classes_; }
  LabelSpec labels() const override { return class_label_spec(n_classes_, vocabulary_); }

 private:
  Named<Output> predictions(Graph& graph, Output logits) const override {
    NameScope scope(graph, "predictions");
    const Output axis = graph.scalar(DType::kInt32, -1, "axis");
    const Output best = graph.op("ArgMax", {logits, axis});
    const Output class_ids = graph.op("ExpandDims", {best, axis}).named("class_ids");
    Named<Output> all = {{"logits", logits},
                         {"probabilities", softmax(graph, logits)},
                         {"class_ids", class_ids},
                         {"classes", class_strings(graph, class_ids, vocabulary_)}};
    add_all_classes(graph, logits, n_classes_, vocabulary_, &all);
    return all;
  }

  Output checked_labels(Graph& graph, Output labels, Output logits) const override {
    NameScope scope(graph, "labels");
    labels = two_dimensional_labels(graph, labels, logits, 1);
    return class_labels(graph, labels, n_classes_, vocabulary_, /*as_ids=*/true);
  }

  Output losses(Graph& graph, Output labels, Output logits) const override {
    LossOptions options;
    options.reduction = Reduction::kNone;
    const Output row_losses = sparse_softmax_cross_entropy(graph, labels, logits, options);
    return graph.op("ExpandDims", {row_losses, graph.scalar(DType::kInt32, -1, "ExpandDims/dim")});
  }

  Named<Metric> metrics(Graph& graph, const HeadBatch& batch) const override {
    return {
        {key("average_loss"), mean_metric(graph, batch.losses, batch.weights, "average_loss")},
        {key("accuracy"), accuracy_metric(graph, batch.labels, batch.prediction("class_ids"),
                                          batch.weights, "accuracy")},
    };
  }

  Named<ExportOutput> signatures(const Named<Output>& predictions) const override {
    return {classification_signature(prediction_of(predictions, "probabilities"),
                                     prediction_of(predictions, "all_classes"))};
  }

  int64_t n_classes_;
  std::vector<std::string> vocabulary_;
};

}  // namespace

RUNHOOKS_REGISTER_HEAD("multi_class_head",
                       MultiClassHead,
                       "Multi-class classification with the softmax of one logit per class.",
                       "n_classes",
                       "weight_column",
                       "label_vocabulary",
                       "loss_reduction",
                       "name",
                       "class_weights");

}  // namespace runhooks
