// Linear models on random Fourier features, which approximate a Gaussian kernel (Rahimi and Recht
// 2007; tf.contrib.kernel_methods).
#include <cmath>

#include "columns/input_layer.h"
#include "estimators/heads/head.h"
#include "estimators/models/canned.h"
#include "nn/layers.h"

namespace runhooks {

namespace {

constexpr double kTwoPi = 6.283185307179586;

const ModelPart& kernel_part() {
  static const auto* part =
      new ModelPart{"", true, true, {"Ftrl", 0.2, PartOptimizer::RateScaling::kNever, "Ftrl"}};
  return *part;
}

ModelTraits kernel_traits() {
  ModelTraits traits;
  traits.family = traits.description = "kernel";
  traits.name = "KernelLinear";
  traits.parts = {kernel_part()};
  traits.arguments = {
      "head",
      "dense_feature_columns",
      "model_dir",
      "labels",
      "output_dim = 256L: count; kept. The number of random features. More features approximate "
      "the kernel better.",
      "stddev = 1: plain number in (0, Inf); kept. The width of the kernel: the distance beyond "
      "which examples have little influence on each other.",
      "optimizer",
      "config",
      "loss_reduction",
      "warm_start_from",
      "formula"};
  return traits;
}

// Returns n features cos(x * omega + phase) * sqrt(2 / n). The random omega and phase are not
// trained, but saved with the model.
Output random_features(Graph& graph, Output x, int64_t n, double stddev) {
  VariableOptions fixed;
  fixed.trainable = false;
  fixed.initializer = random_normal_initializer(0, 1 / stddev);
  const VariablePtr omega = graph.variables().get("omega", Shape{x.shape().dim(1), n}, fixed);
  fixed.initializer = random_uniform_initializer(0, kTwoPi);
  const VariablePtr phase = graph.variables().get("phase", Shape{n}, fixed);
  const Output product = graph.op("MatMul", {x, omega->snapshot});
  const Output angle = graph.op("AddV2", {product, phase->snapshot});
  const Output scale = graph.scalar(DType::kFloat32, std::sqrt(2.0 / static_cast<double>(n)));
  return graph.op("Mul", {graph.op("Cos", {angle}), scale}).named("random_features");
}

ModelFn kernel_model_fn(const std::shared_ptr<Head>& head, const Args& args) {
  const Args arguments = args;
  return [head, arguments](Graph& graph, const ModelInput& input, Mode mode) {
    const std::vector<ColumnPtr> columns = make_columns(arguments.list("feature_columns"));
    const VariableScope scope(graph, "kernel_linear");
    const Output net = input_layer(graph, input.features, columns).tensor;
    const Output mapped = random_features(graph, net, arguments.integer("output_dim", 256),
                                          arguments.number("stddev", 1));
    DenseOptions options;
    options.kernel_initializer = zeros_initializer();
    const Output logits = dense(graph, mapped, head->logits_dimension(), options, "logits");
    return head->create_estimator_spec(graph, input, mode, logits, [&](Graph& g, Output loss) {
      const auto optimizer = optimizer_of(arguments, kernel_part(), columns.size());
      return optimizer->minimize(g, loss, get_or_create_global_step(g));
    });
  };
}

}  // namespace

RUNHOOKS_REGISTER_CANNED("kernel_linear", kernel_model_fn, kernel_traits());

}  // namespace runhooks
