// Fully connected layers on feature columns, as in TensorFlow's canned models.
#include "columns/input_layer.h"
#include "estimators/models/canned.h"
#include "estimators/models/logits.h"
#include "nn/layers.h"
#include "nn/nn_functions.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

Output apply_activation(Graph& graph, const Value& activation_fn, Output x) {
  if (const auto* name = activation_fn.get_if<std::string>()) return activation(graph, *name, x);
  if (const auto* function = activation_fn.get_if<std::shared_ptr<Callable>>()) {
    const Value result = (*function)->call({Value::of(x)});
    if (const auto* tensor = result.get_if<Output>()) return *tensor;
    invalid_argument("`activation_fn` must return a tensor, not ", result.kind(), ".");
  }
  if (activation_fn.is_null()) return x;  // linear
  invalid_argument("`activation_fn` must be the name of a function in tf$nn or a function, not ",
                   activation_fn.kind(), ".");
}

}  // namespace

DnnArguments::DnnArguments(const Args& args, const std::string& prefix)
    : hidden_units(args.integers(prefix + "hidden_units")),
      dropout(args.number(prefix + "dropout", 0)),
      batch_norm(args.flag("batch_norm", false)),
      input_layer_partitioner(partitioner_argument(args, "input_layer_partitioner")) {
  if (const Value* value = args.find(prefix + "activation_fn")) activation_fn = *value;
  for (const int64_t units : hidden_units) {
    if (units < 1) {
      invalid_argument("`", prefix, "hidden_units` must be positive whole numbers, not ", units,
                       ".");
    }
  }
  if (dropout < 0 || dropout >= 1) {
    invalid_argument("`", prefix, "dropout` must be at least 0 and below 1, not ", dropout, ".");
  }
}

void add_layer_summary(Graph& graph, Output values, const std::string& tag) {
  Output fraction;
  {
    NameScope scope(graph, "zero_fraction");
    const Output is_zero = graph.op("Equal", {values, graph.scalar(values.dtype(), 0, "zero")});
    const Output ones = graph.op("Cast", {is_zero}).attr("DstT", DType::kFloat32);
    std::vector<int32_t> axes;
    for (int i = 0; i < values.shape().rank(); ++i) axes.push_back(i);
    fraction = graph.op("Mean", {ones, graph.int_vector(axes)}).named("fraction");
  }
  add_scalar_summary(graph, tag + "/fraction_of_zero_values", fraction);
  add_histogram_summary(graph, tag + "/activation", values);
}

Output dnn_logits(Graph& graph,
                  const Features& features,
                  const std::vector<ColumnPtr>& columns,
                  int64_t units,
                  const DnnArguments& arguments,
                  Mode mode) {
  graph.variables().current().partitioner = size_partitioner();
  Output net;
  {
    const VariableScope scope(graph, "input_from_feature_columns");
    graph.variables().current().partitioner = arguments.input_layer_partitioner;
    net = input_layer(graph, features, columns).tensor;
  }
  DenseOptions options;
  options.activation = [&](Graph& g, Output x) {
    return apply_activation(g, arguments.activation_fn, x);
  };
  for (size_t i = 0; i < arguments.hidden_units.size(); ++i) {
    const std::string layer = str_cat("hiddenlayer_", i);
    net = dense(graph, net, arguments.hidden_units[i], options, layer);
    if (mode == Mode::kTrain) net = dropout(graph, net, arguments.dropout);
    if (arguments.batch_norm) {
      const VariableScope scope(graph, layer);
      // As in TensorFlow, variables are in the layer's scope: "hiddenlayer_0/batchnorm_0/gamma".
      BatchNormOptions norm;
      norm.momentum = 0.999;
      norm.training = mode == Mode::kTrain;
      net = batch_normalization_layer(graph, net, norm, str_cat("batchnorm_", i));
    }
    add_layer_summary(graph, net, "dnn/" + layer);
  }
  options.activation = nullptr;
  const Output logits = dense(graph, net, units, options, "logits");
  add_layer_summary(graph, logits, "dnn/logits");
  return logits;
}

}  // namespace runhooks
