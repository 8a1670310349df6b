// Models without features: they learn one bias for all examples (tf.estimator.BaselineRegressor
// and related classes).
#include "columns/linear_model.h"
#include "estimators/heads/head.h"
#include "estimators/models/canned.h"

namespace runhooks {

namespace {

const ModelPart& baseline_part() {
  static const auto* part =
      new ModelPart{"", false, false, {"Ftrl", 0.3, PartOptimizer::RateScaling::kNever, "Ftrl"}};
  return *part;
}

ModelTraits baseline_traits() {
  ModelTraits traits;
  traits.family = traits.description = "baseline";
  traits.name = "Baseline";
  traits.parts = {baseline_part()};
  traits.arguments = {"head",   "model_dir",      "labels", "optimizer",
                      "config", "loss_reduction", "formula"};
  return traits;
}

Output baseline_logits(Graph& graph, const Features& features, int64_t units) {
  if (features.empty()) invalid_argument("The features must have at least one entry.");
  VariableScope scope(graph, "baseline");
  VariableOptions options;
  options.initializer = zeros_initializer();
  const VariablePtr bias = graph.variables().get("bias", Shape{units}, options);
  const Output ones = ones_per_example(graph, features);
  const Output logits = graph.op("Mul", {ones, bias->snapshot}).named("logits");
  const Feature& feature = features.begin()->second;
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
