// Regression with squared error (TensorFlow 1.x's _RegressionHeadWithMeanSquaredErrorLoss).
#include "estimators/head.h"
#include "estimators/loss.h"
#include "estimators/metric.h"
#include "training/summary_ops.h"

namespace runhooks {

namespace {

class RegressionHead : public Head {
 public:
  explicit RegressionHead(const Args& args)
      : label_dimension_(args.integer("label_dimension", 1)),
        reduction_(reduction_from_name(args.text("loss_reduction", "sum"))) {
    if (label_dimension_ < 1) {
      invalid_argument("`label_dimension` must be 1 or more, not ", label_dimension_, ".");
    }
    if (const Value* column = args.find("weight_column")) {
      const auto* key = column->get_if<std::string>();
      weight_column_ = key ? std::make_shared<Args>(numeric_spec(*key))
                           : *column->get_if<std::shared_ptr<Args>>();
    }
  }

  int64_t logits_dimension() const override { return label_dimension_; }

  EstimatorSpec create_estimator_spec(Graph& graph,
                                      const ModelInput& input,
                                      Mode mode,
                                      Output logits,
                                      const TrainOpFn& train_op) const override {
    NameScope scope(graph, "head");
    EstimatorSpec spec;
    spec.mode = mode;
    spec.predictions.emplace_back("predictions", logits);
    if (mode == Mode::kPredict) return spec;

    const Output labels = checked_labels(graph, input.labels, logits);
    const Output weights = weights_of(graph, input.features);
    const Output losses = mean_squared_error(graph, labels, logits, Output(), Reduction::kNone);
    spec.loss = compute_weighted_loss(graph, losses, weights, reduction_);
    if (mode == Mode::kTrain) {
      spec.train_op = train_op(graph, spec.loss);
      summarize(graph, spec.loss, losses, weights);
      return spec;
    }
    NameScope metrics(graph, "metrics");
    spec.eval_metric_ops.emplace_back("average_loss",
                                      mean_metric(graph, losses, weights, "average_loss"));
    spec.eval_metric_ops.emplace_back("label/mean",
                                      mean_metric(graph, labels, weights, "label/mean"));
    spec.eval_metric_ops.emplace_back("prediction/mean",
                                      mean_metric(graph, logits, weights, "prediction/mean"));
    return spec;
  }

 private:
  // The mean is shown beside a sum only: other reductions are means of some kind themselves.
  void summarize(Graph& graph, Output loss, Output losses, Output weights) const {
    Output mean;
    if (reduction_ == Reduction::kSum) {
      const Output ones = ones_like(graph, losses);
      if (!weights) weights = graph.scalar(losses.dtype(), 1, "mul/x");
      const Output spread = graph.op("Mul", {weights, ones}).named("mul");
      std::vector<int32_t> axes;
      for (int i = 0; i < losses.shape().rank(); ++i) axes.push_back(i);
      const Output number = graph.op("Sum", {spread, graph.int_vector(axes)}).named("Sum");
      mean = graph.op("RealDiv", {loss, number}).named("truediv");
    }
    const NameScope root(graph, "");
    add_scalar_summary(graph, "loss", loss);
    if (mean) add_scalar_summary(graph, "average_loss", mean);
  }
  static Output ones_like(Graph& graph, Output x) {
    const NameScope scope(graph, "ones_like");
    const Output shape = graph.op("Shape", {x});
    return graph.op("Fill", {shape, graph.scalar(x.dtype(), 1)}).named(scope.name());
  }
  static Args numeric_spec(const std::string& key) {
    Args spec("weight_column");
    spec.set("type", Value::of(std::string("NumericColumn")));
    spec.set("key", Value::of(key));
    return spec;
  }

  // [batch, label_dimension] in float32, whatever the labels' type.
  Output checked_labels(Graph& graph, Output labels, Output logits) const {
    if (!labels) {
      invalid_argument("You must provide labels: the input function returns features only.");
    }
    if (!is_numeric(labels.dtype()) && labels.dtype() != DType::kBool) {
      invalid_argument("The labels of a regressor must be numbers; got type ",
                       dtype_name(labels.dtype()), ".");
    }
    NameScope scope(graph, "labels");
    if (labels.shape().has_rank() && labels.shape().rank() == 1) {
      labels = graph.op("ExpandDims", {labels, graph.scalar(DType::kInt32, -1, "ExpandDims/dim")});
    }
    const Shape wanted{logits.shape().dim(0), label_dimension_};
    if (!wanted.is_compatible_with(labels.shape())) {
      throw Error(Code::kInvalidArgument,
                  str_cat("labels shape must be [batch_size, ", label_dimension_,
                          "], but the labels have shape ", labels.shape(), "."),
                  {"`label_dimension` says how many numbers the label of one example is."});
    }
    labels = graph.op("EnsureShape", {labels}).attr("shape", wanted);
    if (labels.dtype() == DType::kFloat32) return labels;
    return graph.op("Cast", {labels}).attr("DstT", DType::kFloat32);
  }

  Output weights_of(Graph& graph, const Features& features) const {
    if (!weight_column_) return Output();
    NameScope scope(graph, "weights");
    TransformationCache cache(graph, features);
    return cache.transformed(*make_column(*weight_column_));
  }

  int64_t label_dimension_;
  Reduction reduction_;
  std::shared_ptr<Args> weight_column_;
};

}  // namespace

RUNHOOKS_REGISTER_HEAD("regression_head", RegressionHead);

std::shared_ptr<Head> make_head(const std::string& type, const Args& args) {
  return Factory<Head>::instance().make("head", type, args);
}

}  // namespace runhooks
