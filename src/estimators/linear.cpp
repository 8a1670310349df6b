// Linear models of feature columns (tf.estimator.LinearRegressor).
#include <algorithm>
#include <cmath>

#include "columns/linear_model.h"
#include "estimators/canned.h"
#include "estimators/head.h"

namespace runhooks {

namespace {

ModelFn linear_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    VariableScope scope(graph, "linear");
    scope.options().partitioner = size_partitioner();
    const LinearModel model =
        linear_model(graph, input.features, columns, head->logits_dimension());
    return head->create_estimator_spec(
        graph, input, mode, model.logits, [&](Graph& g, Output loss) {
          // Where no optimizer is named: Ftrl with a rate that falls with the number of columns.
          const double rate = std::min(0.2, 1 / std::sqrt(static_cast<double>(columns.size())));
          const auto optimizer = optimizer_of(arguments, "optimizer", "Ftrl", 0.2, rate);
          return optimizer->minimize(g, loss, get_or_create_global_step(g));
        });
  };
}

ModelFn linear_regressor(const Args& args) {
  return linear_model_fn(make_head("regression_head", args), args);
}

}  // namespace

RUNHOOKS_REGISTER_ESTIMATOR("linear_regressor", linear_regressor);

}  // namespace runhooks
