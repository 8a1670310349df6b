// Models that look at no feature: a bias, the same for every example
// (tf.estimator.BaselineRegressor and its relatives).
#include "estimators/canned.h"
#include "estimators/head.h"

namespace runhooks {

namespace {

const ModelPart& baseline_part() {
  static const auto* part =
      new ModelPart{"", false, false, {"Ftrl", 0.3, PartOptimizer::Falls::kNever, "Ftrl"}};
  return *part;
}

ModelTraits baseline_traits() {
  ModelTraits traits;
  traits.family = traits.words = "baseline";
  traits.name = "Baseline";
  traits.parts = {baseline_part()};
  traits.arguments = {"head",   "model_dir",      "labels", "optimizer",
                      "config", "loss_reduction", "formula"};
  return traits;
}

// As many rows as the features have.
Output baseline_logits(Graph& graph, const Features& features, int64_t units) {
  if (features.empty()) invalid_argument("The features must have at least one entry.");
  VariableScope scope(graph, "baseline");
  VariableOptions options;
  options.initializer = zeros_initializer();
  const VariablePtr bias = graph.variables().get("bias", Shape{units}, options);
  const Feature& feature = features.begin()->second;
  Output shape;
  if (feature.is_sparse()) {
    shape = graph.op("Cast", {feature.dense_shape}).attr("DstT", DType::kInt32);
  } else {
    shape = graph.op("Shape", {feature.values});
  }
  const Output rows =
      graph.op("Slice", {shape, graph.int_vector({0}, "begin"), graph.int_vector({1}, "size")});
  const Output column = graph.op(
      "ConcatV2", {rows, graph.int_vector({1}, "one"), graph.scalar(DType::kInt32, 0, "axis")});
  const Output ones = graph.op("Fill", {column, graph.scalar(DType::kFloat32, 1, "value")});
  const Output logits = graph.op("Mul", {ones, bias->snapshot}).named("logits");
  const int64_t batch = feature.is_sparse() ? Shape::kUnknownDim : feature.values.shape().dim(0);
  logits.op->set_output_shape(0, Shape{batch, units});
  return logits;
}

ModelFn baseline_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const Output logits = baseline_logits(graph, input.features, head->logits_dimension());
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      const auto optimizer = optimizer_of(arguments, baseline_part(), 0);
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("baseline", baseline_model_fn, baseline_traits());

}  // namespace runhooks
