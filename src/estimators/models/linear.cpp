// Linear models on feature columns (tf.estimator.LinearRegressor and related classes).
#include "estimators/heads/head.h"
#include "estimators/models/canned.h"
#include "estimators/models/logits.h"

namespace runhooks {

namespace {

const ModelPart& linear_part() {
  static const auto* part = new ModelPart{
      "", true, false, {"Ftrl", 0.2, PartOptimizer::RateScaling::kForDefault, "LBFGS"}};
  return *part;
}

ModelTraits linear_traits() {
  ModelTraits traits;
  traits.family = traits.description = "linear";
  traits.name = "Linear";
  traits.parts = {linear_part()};
  traits.coefficients = [](const std::vector<ColumnPtr>& columns) {
    return linear_coefficients("linear", columns);
  };
  traits.arguments = {"head",
                      "feature_columns",
                      "model_dir",
                      "labels",
                      "optimizer",
                      "config",
                      "partitioner",
                      "loss_reduction",
                      "sparse_combiner",
                      "warm_start_from",
                      "formula",
                      "has_bias = TRUE: flag; kept"};
  return traits;
}

ModelFn linear_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    // This scope covers the whole model, because it appears in the names of slots.
    VariableScope scope(graph, "linear");
    const Output logits =
        linear_logits(graph, input.features, columns, head->logits_dimension(), arguments);
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      const auto optimizer = optimizer_of(arguments, linear_part(), columns.size());
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("linear", linear_model_fn, linear_traits());

}  // namespace runhooks
