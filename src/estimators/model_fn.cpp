#include "estimators/model_fn.h"

namespace runhooks {

const char* mode_name(Mode mode) {
  switch (mode) {
    case Mode::kTrain:
      return "train";
    case Mode::kEval:
      return "eval";
    default:
      return "infer";
  }
}

namespace {

void check_loss(const EstimatorSpec& spec) {
  if (!spec.loss) {
    if (spec.mode != Mode::kPredict) invalid_argument("Missing loss.");
    return;
  }
  const Shape& shape = spec.loss.shape();
  const bool is_scalar =
      !shape.has_rank() || shape.rank() == 0 || (shape.rank() == 1 && shape.dim(0) == 1);
  if (!is_scalar) {
    invalid_argument("Loss must be scalar, given: '", spec.loss.name(), "' of shape ", shape, ".");
  }
}

void check_metric_names(const EstimatorSpec& spec) {
  for (const auto& metric : spec.eval_metric_ops) {
    if (metric.first != "loss" && metric.first != "global_step") continue;
    invalid_argument(
        "Metric with name '", metric.first,
        "' is not allowed, because Estimator already defines a default metric with the same name.");
  }
}

}  // namespace

void check_spec(const EstimatorSpec& spec) {
  check_loss(spec);
  check_metric_names(spec);
  if (spec.mode == Mode::kTrain && !spec.train_op.op) invalid_argument("Missing train_op.");
  if (spec.mode == Mode::kPredict && spec.predictions.empty()) {
    invalid_argument("Missing predictions.");
  }
}

CannedModel make_canned_model(const std::string& estimator, const Args& args) {
  return *Factory<CannedModel>::instance().make("estimator", estimator, args);
}

ModelFn make_model_fn(const std::string& estimator, const Args& args) {
  return make_canned_model(estimator, args).model_fn;
}

}  // namespace runhooks
