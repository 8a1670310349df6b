// Linear models of feature columns (tf.estimator.LinearRegressor and its relatives).
#include <algorithm>
#include <cmath>

#include "estimators/canned.h"
#include "estimators/head.h"
#include "estimators/logits.h"

namespace runhooks {

namespace {

ModelFn linear_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    // The scope is that of all the model, which shows in the names of slots.
    VariableScope scope(graph, "linear");
    const Output logits =
        linear_logits(graph, input.features, columns, head->logits_dimension(), arguments);
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      // Where no optimizer is named: Ftrl with a rate that falls with the number of columns.
      const double rate = std::min(0.2, 1 / std::sqrt(static_cast<double>(columns.size())));
      const auto optimizer = optimizer_of(arguments, "optimizer", "Ftrl", 0.2, rate);
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("linear", linear_model_fn);

}  // namespace runhooks
