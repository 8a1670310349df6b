// Linear combination of feature columns, as in TensorFlow's canned models.
#include "columns/linear_model.h"
#include "estimators/models/canned.h"
#include "estimators/models/logits.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

Output read_part(Graph& graph, const VariablePtr& part, const char* name = "ReadVariableOp") {
  return graph.op("ReadVariableOp", {part->handle}).attr("dtype", part->dtype).named(name);
}

Output zero_fraction(Graph& graph, const std::vector<VariablePtr>& weights) {
  const NameScope scope(graph, "zero_fraction");
  std::vector<Output> sizes, zeros;
  {
    const NameScope total(graph, "total_size");
    for (const VariablePtr& part : weights) {
      const auto size = static_cast<double>(part->shape.num_elements());
      sizes.push_back(graph.scalar(DType::kInt64, size, "Size"));
    }
    sizes = {graph.op("AddN", sizes)};
  }
  {
    const NameScope total(graph, "total_zero");
    for (const VariablePtr& part : weights) {
      const NameScope count(graph, "zero_count");
      const Output zero = graph.scalar(part->dtype, 0, "zeros");
      const Output is_zero = graph.op("Equal", {read_part(graph, part), zero});
      const Output ones = graph.op("Cast", {is_zero}).attr("DstT", DType::kFloat32);
      std::vector<int32_t> axes;
      for (int i = 0; i < part->shape.rank(); ++i) axes.push_back(i);
      const Output num_zeros = graph.op("Sum", {ones, graph.int_vector(axes)});
      zeros.push_back(graph.op("Identity", {num_zeros}));
    }
    zeros = {graph.op("AddN", zeros)};
  }
  Output fraction;
  {
    const NameScope compute(graph, "compute");
    const Output size = graph.op("Cast", sizes).attr("DstT", DType::kFloat32).named("float32_size");
    fraction = graph.op("RealDiv", {zeros[0], size}).named("truediv");
  }
  return graph.op("Identity", {fraction}).named("zero_fraction_or_nan");
}

void summarize(Graph& graph, const LinearModel& model, int64_t units) {
  const Output bias = read_part(graph, model.bias[0]);
  if (units > 1) {
    add_histogram_summary(graph, "bias", bias);
  } else {
    add_scalar_summary(
        graph, "bias",
        graph.op("Reshape", {bias, graph.int_vector({}, "shape")}).named("strided_slice"));
  }
  if (model.weights.empty()) return;
  add_scalar_summary(graph, "fraction_of_zero_weights", zero_fraction(graph, model.weights));
}

}  // namespace

Output linear_logits(Graph& graph,
                     const Features& features,
                     const std::vector<ColumnPtr>& columns,
                     int64_t units,
                     const Args& args) {
  // Combined models use the partitioner of the input layer.
  graph.variables().current().partitioner = partitioner_argument(
      args, args.has("partitioner") ? "partitioner" : "input_layer_partitioner");
  LinearModelOptions options;
  options.units = units;
  options.allow_no_columns = true;
  options.has_bias = args.flag("has_bias", true);
  options.sparse_combiner = args.text("sparse_combiner", "sum");
  const LinearModel model = linear_model(graph, features, columns, options);
  summarize(graph, model, units);
  return model.logits;
}

Coefficients linear_coefficients(const std::string& scope, const std::vector<ColumnPtr>& columns) {
  Coefficients names;
  const std::string model = scope + "/linear_model/";
  names.bias = model + "bias_weights";
  std::vector<ColumnPtr> weighted;
  for (const ColumnPtr& column : columns) {
    if (!dynamic_cast<const UnweightedColumn*>(column.get())) weighted.push_back(column);
  }
  for (const std::string& name : scopes_of(weighted)) {
    names.weights.push_back(model + name + "/weights");
  }
  return names;
}

}  // namespace runhooks
