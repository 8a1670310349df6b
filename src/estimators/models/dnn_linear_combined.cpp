// Wide and deep models: the logits of a linear and a deep model are added
// (tf.estimator.DNNLinearCombinedRegressor and related classes).
#include "estimators/heads/head.h"
#include "estimators/models/canned.h"
#include "estimators/models/logits.h"

namespace runhooks {

namespace {

enum Part { kLinear, kDeep };

const std::vector<ModelPart>& combined_parts() {
  using RateScaling = PartOptimizer::RateScaling;
  static const auto* parts = new std::vector<ModelPart>{
      {"linear_", true, false, {"Ftrl", 0.005, RateScaling::kAlways, "Ftrl", 0.1}},
      {"dnn_", true, true, {"Adagrad", 0.001, RateScaling::kNever, "Adam", 0.001}}};
  return *parts;
}

ModelTraits combined_traits() {
  ModelTraits traits;
  traits.family = "both";
  traits.description = "wide and deep";
  traits.name = "DNNLinearCombined";
  traits.parts = combined_parts();
  traits.batch_size = 64;
  traits.steps = 2000;
  traits.arguments = {
      "head",
      "model_dir",
      "linear_feature_columns = NULL: columns; kept. The columns of the linear part, or a formula "
      "with `data`. `NULL`: no linear part.",
      "linear_optimizer",
      "dnn_feature_columns = NULL: columns; kept. The dense columns of the deep part, or a formula "
      "with `data`. `NULL`: no deep part.",
      "dnn_optimizer",
      "dnn_hidden_units = NULL: widths; kept. The number of units in each hidden layer, starting "
      "at the input.",
      "dnn_activation_fn = 'relu': activation or NULL; kept. The activation function of the hidden "
      "layers: the name of a function in `tf$nn`, or a function of a tensor. `NULL`: no "
      "activation.",
      "dnn_dropout = NULL: probability. The probability of dropping a unit during training. "
      "`NULL`: no dropout.",
      "labels",
      "input_layer_partitioner",
      "config",
      "loss_reduction",
      "batch_norm",
      "sparse_combiner",
      "warm_start_from",
      "formula"};
  return traits;
}

std::vector<ColumnPtr> columns_argument(const Args& args, const std::string& name) {
  return args.has(name) ? make_columns(args.list(name)) : std::vector<ColumnPtr>();
}

std::vector<VariablePtr> trainable_in(Graph& graph, const std::string& scope) {
  std::vector<VariablePtr> all;
  for (const VariablePtr& variable : variables_in(graph, collection_keys::kTrainableVariables)) {
    if (variable->op_name().rfind(scope + "/", 0) == 0) all.push_back(variable);
  }
  return all;
}

// Trains each part with its own optimizer and increments the global step after both.
class CombinedTraining {
 public:
  CombinedTraining(const Args& args, bool has_dnn, size_t num_linear_columns)
      : args_(args), has_dnn_(has_dnn), num_linear_columns_(num_linear_columns) {}

  Operation* operator()(Graph& graph, Output loss) const {
    const VariablePtr step = get_or_create_global_step(graph);
    std::vector<Operation*> parts;
    const auto train = [&](Part part, size_t num_columns, const char* scope) {
      const auto optimizer = optimizer_of(args_, combined_parts()[part], num_columns);
      parts.push_back(optimizer->minimize(graph, loss, nullptr, trainable_in(graph, scope)));
    };
    if (has_dnn_) train(kDeep, 0, "dnn");
    if (num_linear_columns_ > 0) train(kLinear, num_linear_columns_, "linear");
    ControlDependencies after(graph, {graph.group(parts)});
    const Output one = graph.scalar(step->dtype, 1, "AssignAdd/value");
    return graph.op(step->is_resource ? "AssignAddVariableOp" : "AssignAdd", {step->handle, one});
  }

 private:
  const Args& args_;
  bool has_dnn_;
  size_t num_linear_columns_;
};

ModelFn combined_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const bool has_dnn = args.has("dnn_feature_columns");
  const bool has_linear = args.has("linear_feature_columns");
  if (!has_dnn && !has_linear) {
    invalid_argument("Either linear_feature_columns or dnn_feature_columns must be defined.");
  }
  if (has_dnn && (!args.has("dnn_hidden_units") || args.integers("dnn_hidden_units").empty())) {
    invalid_argument("dnn_hidden_units must be defined when dnn_feature_columns is specified.");
  }
  std::shared_ptr<DnnArguments> dnn;
  if (has_dnn) dnn = std::make_shared<DnnArguments>(args, "dnn_");
  const Args arguments = args;
  return [head, arguments, dnn](Graph& graph, const ModelInput& input, Mode mode) {
    const auto dnn_columns = columns_argument(arguments, "dnn_feature_columns");
    const auto linear_columns = columns_argument(arguments, "linear_feature_columns");
    const int64_t units = head->logits_dimension();
    std::vector<Output> logits;
    if (dnn) {
      const VariableScope scope(graph, "dnn");
      logits.push_back(dnn_logits(graph, input.features, dnn_columns, units, *dnn, mode));
    }
    if (!linear_columns.empty()) {
      const VariableScope scope(graph, "linear");
      logits.push_back(linear_logits(graph, input.features, linear_columns, units, arguments));
      add_layer_summary(graph, logits.back(), "linear");
    }
    const Output sum = logits.size() == 1 ? logits[0] : graph.op("AddV2", logits).named("add");
    return head->create_estimator_spec(
        graph, input, mode, sum,
        CombinedTraining(arguments, dnn != nullptr, linear_columns.size()));
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("dnn_linear_combined", combined_model_fn, combined_traits());

}  // namespace runhooks
