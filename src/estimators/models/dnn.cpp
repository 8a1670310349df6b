// Deep models on feature columns (tf.estimator.DNNRegressor and related classes).
#include "estimators/heads/head.h"
#include "estimators/models/canned.h"
#include "estimators/models/logits.h"

namespace runhooks {

namespace {

const ModelPart& dnn_part() {
  static const auto* part = new ModelPart{
      "", true, true, {"Adagrad", 0.05, PartOptimizer::RateScaling::kNever, "Adam", 0.001}};
  return *part;
}

ModelTraits dnn_traits() {
  ModelTraits traits;
  traits.family = traits.description = "deep";
  traits.name = "DNN";
  traits.parts = {dnn_part()};
  traits.batch_size = 64;
  traits.steps = 2000;
  traits.arguments = {
      "head",
      "hidden_units: widths; kept. The number of units in each hidden layer, starting at the "
      "input. `integer(0)`: no hidden layer, so the model is linear.",
      "dense_feature_columns",
      "model_dir",
      "labels",
      "optimizer",
      "activation_fn = 'relu': activation or NULL; kept. The activation function of the hidden "
      "layers: the name of a function in `tf$nn`, or a function of a tensor. `NULL`: no "
      "activation.",
      "dropout = NULL: probability. The probability of dropping a unit during training. `NULL`: "
      "no dropout.",
      "input_layer_partitioner",
      "config",
      "loss_reduction",
      "batch_norm",
      "warm_start_from",
      "formula"};
  return traits;
}

ModelFn dnn_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  const DnnArguments dnn(args, "");
  return [head, arguments, dnn](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    // This scope covers the whole model, because it appears in the names of slots.
    VariableScope scope(graph, "dnn");
    const Output logits =
        dnn_logits(graph, input.features, columns, head->logits_dimension(), dnn, mode);
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      const auto optimizer = optimizer_of(arguments, dnn_part(), columns.size());
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("dnn", dnn_model_fn, dnn_traits());

}  // namespace runhooks
