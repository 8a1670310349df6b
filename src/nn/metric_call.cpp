#include "nn/metric_call.h"

namespace runhooks {

namespace {

Output drop_extra_dim(Output x, const Shape& other) {
  const Shape& shape = x.shape();
  if (!shape.has_rank() || !other.has_rank()) return x;
  const int rank = other.rank();
  if (shape.rank() != rank + 1 || shape.dim(rank) != 1) return x;
  return x.op->graph().op("Squeeze", {x}).attr("squeeze_dims", std::vector<int64_t>{-1});
}

void add_to_collections(const MetricCall& call, const char* argument, Output x) {
  for (const Value& name : values_argument(call.args, argument)) {
    if (const auto* text = name.get_if<std::string>()) call.graph.add_to_collection(*text, x);
  }
}

}  // namespace

Output MetricCall::weights() const {
  return tensor_argument_or_none(graph, args, "weights", DType::kFloat32);
}

MetricInputs MetricCall::unchanged_inputs() const {
  MetricInputs inputs;
  inputs.weights = weights();
  inputs.predictions = tensor_argument(graph, args, "predictions");
  inputs.labels = tensor_argument(graph, args, "labels");
  return inputs;
}

MetricInputs MetricCall::inputs() const {
  MetricInputs inputs = unchanged_inputs();
  const Shape labels = inputs.labels.shape(), predictions = inputs.predictions.shape();
  inputs.predictions = drop_extra_dim(inputs.predictions, labels);
  inputs.labels = drop_extra_dim(inputs.labels, predictions);
  return inputs;
}

std::vector<float> MetricCall::thresholds() const {
  std::vector<float> numbers;
  for (const Value& value : values_argument(args, "thresholds")) {
    double x;
    if (!value_number(value, &x)) {
      invalid_argument("`thresholds` must be numbers, not ", value.kind(), ".");
    }
    numbers.push_back(static_cast<float>(x));
  }
  if (numbers.empty()) invalid_argument("`thresholds` must be one number or more.");
  return numbers;
}

Value add_metric(const MetricCall& call, MetricFunction function) {
  const Metric metric = function(call);
  const Output update = metric.update->output(0);
  add_to_collections(call, "metrics_collections", metric.value);
  add_to_collections(call, "updates_collections", update);
  return value_list({metric.value, update});
}

}  // namespace runhooks
