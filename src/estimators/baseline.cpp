// Models that look at no feature: a bias, the same for every example
// (tf.estimator.BaselineRegressor and its relatives).
#include "estimators/canned.h"
#include "estimators/head.h"

namespace runhooks {

namespace {

// As many rows as the features have.
Output baseline_logits(Graph& graph, const Features& features, int64_t units) {
  if (features.empty()) invalid_argument("The features must have at least one entry.");
  VariableScope scope(graph, "baseline");
  VariableOptions options;
  options.initializer = zeros_initializer();
  const VariablePtr bias = graph.variables().get("bias", Shape{units}, options);
  const Output shape = graph.op("Shape", {features.begin()->second});
  const Output rows =
      graph.op("Slice", {shape, graph.int_vector({0}, "begin"), graph.int_vector({1}, "size")});
  const Output column = graph.op(
      "ConcatV2", {rows, graph.int_vector({1}, "one"), graph.scalar(DType::kInt32, 0, "axis")});
  const Output ones = graph.op("Fill", {column, graph.scalar(DType::kFloat32, 1, "value")});
  const Output logits = graph.op("Mul", {ones, bias->snapshot}).named("logits");
  logits.op->set_output_shape(0, Shape{features.begin()->second.shape().dim(0), units});
  return logits;
}

ModelFn baseline_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const Output logits = baseline_logits(graph, input.features, head->logits_dimension());
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      const auto optimizer = optimizer_of(arguments, "optimizer", "Ftrl", 0.3, 0.3);
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

ModelFn baseline_regressor(const Args& args) {
  return baseline_model_fn(make_head("regression_head", args), args);
}
ModelFn baseline_classifier(const Args& args) {
  return baseline_model_fn(classifier_head(args), args);
}
ModelFn baseline_estimator(const Args& args) {
  return baseline_model_fn(head_argument(args), args);
}

}  // namespace

RUNHOOKS_REGISTER_ESTIMATOR("baseline_regressor", baseline_regressor);
RUNHOOKS_REGISTER_ESTIMATOR("baseline_classifier", baseline_classifier);
RUNHOOKS_REGISTER_ESTIMATOR("baseline_estimator", baseline_estimator);

}  // namespace runhooks
