// Linear models of feature columns (tf.estimator.LinearRegressor).
#include <algorithm>
#include <cmath>

#include "columns/linear_model.h"
#include "estimators/canned.h"
#include "estimators/head.h"
#include "training/summary_ops.h"

namespace runhooks {

namespace {

Output read_part(Graph& graph, const VariablePtr& part, const char* name = "ReadVariableOp") {
  return graph.op("ReadVariableOp", {part->handle}).attr("dtype", part->dtype).named(name);
}

// Which part of all weights is zero.
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
      const Output number = graph.op("Sum", {ones, graph.int_vector(axes)});
      zeros.push_back(graph.op("Identity", {number}));
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

// The summaries that TensorFlow's linear models have.
void summarize(Graph& graph, const LinearModel& model, int64_t units) {
  const Output bias = read_part(graph, model.bias[0]);
  if (units > 1) {
    add_histogram_summary(graph, "bias", bias);
  } else {
    add_scalar_summary(
        graph, "bias",
        graph.op("Reshape", {bias, graph.int_vector({}, "shape")}).named("strided_slice"));
  }
  add_scalar_summary(graph, "fraction_of_zero_weights", zero_fraction(graph, model.weights));
}

ModelFn linear_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    VariableScope scope(graph, "linear");
    scope.options().partitioner = size_partitioner();
    LinearModelOptions options;
    options.units = head->logits_dimension();
    options.sparse_combiner = arguments.text("sparse_combiner", "sum");
    const LinearModel model = linear_model(graph, input.features, columns, options);
    summarize(graph, model, head->logits_dimension());
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
