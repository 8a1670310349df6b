// Deep models of feature columns (tf.estimator.DNNRegressor and its relatives).
#include "estimators/canned.h"
#include "estimators/head.h"
#include "estimators/logits.h"

namespace runhooks {

namespace {

ModelFn dnn_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  const DnnArguments dnn(args, "");
  return [head, arguments, dnn](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    // The scope is that of all the model, which shows in the names of slots.
    VariableScope scope(graph, "dnn");
    const Output logits =
        dnn_logits(graph, input.features, columns, head->logits_dimension(), dnn, mode);
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      const auto optimizer = optimizer_of(arguments, "optimizer", "Adagrad", 0.05, 0.05);
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("dnn", dnn_model_fn);

}  // namespace runhooks
