#include "estimators/models/tree_model.h"

#include <algorithm>

#include "trees/ensemble_resource.h"
#include "trees/quantile_resource.h"

namespace runhooks {

std::vector<std::string> missing_features(const Args& args) {
  return args.has("missing_features") ? args.texts("missing_features") : std::vector<std::string>();
}

TreeModel::TreeModel(Graph& graph, const Features& input_features, const Args& args, double epsilon)
    : columns(sorted_columns(make_columns(args.list("feature_columns")))),
      features(tree_features(columns, epsilon, missing_features(args))) {
  for (TreeFeature& feature : features) feature.has_weights = args.has("weight_column");
  ensemble = add_ensemble(graph, kTrees).handle;
  const NameScope scope(graph, str_cat(kTrees, "/"));
  int64_t streams = 0;
  for (const TreeFeature& feature : features) streams = std::max(streams, feature.stream + 1);
  std::vector<Output> boundaries;
  Output quantiles;
  if (streams > 0) {
    quantiles =
        add_quantiles(graph, str_cat(kTrees, "/QuantileAccumulator"), epsilon, streams).handle;
    Operation* boundary_op =
        graph.op("BoostedTreesQuantileStreamResourceGetBucketBoundaries", {quantiles})
            .attr("num_features", streams);
    boundaries = boundary_op->outputs();
  }
  const VariablePtr ready = add_flag(graph, "are_boundaries_ready", streams == 0);
  const NameScope transform(graph, "transform_features");
  input = tree_input(graph, input_features, columns, features, boundaries);
  input.quantiles = quantiles;
  input.boundaries_ready = ready->handle;
}

VariablePtr add_flag(Graph& graph, const std::string& name, bool value) {
  VariableOptions options;
  options.dtype = DType::kBool;
  options.trainable = false;
  options.use_resource = true;
  const Output initial_value = graph.constant(Tensor::scalar<bool>(value), name + "/value");
  return make_variable(graph, initial_value, name, options);
}

Output predicted_logits(Graph& graph, const TreeModel& model, int64_t logits, int64_t trees) {
  std::vector<Output> inputs = {model.ensemble};
  inputs.insert(inputs.end(), model.input.buckets.begin(), model.input.buckets.end());
  if (trees > 0) {
    return graph.op("FirstTreesPredict", inputs)
        .attr("num_bucketized_features", static_cast<int64_t>(model.features.size()))
        .attr("logits_dimension", logits)
        .attr("num_trees", trees);
  }
  return graph.op("BoostedTreesPredict", inputs)
      .attr("num_bucketized_features", static_cast<int64_t>(model.features.size()))
      .attr("logits_dimension", logits);
}

// Returns the name of the inverse link, the head's function from logits to predictions, as
// TensorFlow's explanations call it.
static std::string link_of(const Head& head) {
  const std::string family = head.labels().family;
  if (family == "multinomial") return "softmax";
  return family == "binomial" ? "sigmoid" : family == "poisson" ? "exp" : "identity";
}

Output to_label_units(Graph& graph, Output contributions, const Args& model_args, int64_t logits) {
  const Args args = model_args.has("head") ? model_args.args("head") : model_args;
  if (!args.has("label_scale")) return contributions;
  const std::vector<double> centers = args.numbers("label_center");
  const std::vector<double> scales = args.numbers("label_scale");
  const int64_t width = contributions.shape().dim(1) / logits;
  std::vector<float> center(static_cast<size_t>(width * logits), 0.0f), scale(center.size());
  for (size_t i = 0; i < center.size(); ++i) {
    const size_t logit = i / static_cast<size_t>(width);
    if (i % static_cast<size_t>(width) == 0) {
      center[i] = static_cast<float>(centers[std::min(logit, centers.size() - 1)]);
    }
    scale[i] = static_cast<float>(scales[std::min(logit, scales.size() - 1)]);
  }
  const Output scaled =
      graph.op("Mul", {contributions, graph.constant(Tensor::vector<float>(scale), "label_scale")});
  return graph.op("AddV2", {scaled, graph.constant(Tensor::vector<float>(center), "label_center")});
}

Output contributions(Graph& graph, const TreeModel& model, const Head& head) {
  TreeModelView view;
  view.features = model.features;
  std::vector<Output> inputs = {model.ensemble};
  inputs.insert(inputs.end(), model.input.buckets.begin(), model.input.buckets.end());
  return graph.op("TreeContributions", inputs)
      .attr("num_features", static_cast<int64_t>(model.features.size()))
      .attr("columns", view.column_of_feature())
      .attr("num_columns", static_cast<int64_t>(view.columns().size()))
      .attr("logits_dimension", head.logits_dimension())
      .attr("link", link_of(head));
}

}  // namespace runhooks
