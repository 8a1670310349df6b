// The losses of tf.losses.
#include "graph/graph_function.h"
#include "nn/loss.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

const std::string& scope_name_or(const LossOptions& options, const std::string& otherwise) {
  return options.scope.empty() ? otherwise : options.scope;
}

// Multiplies the losses by the weights and reduces them, in the scope that the loss has opened.
Output weight_and_reduce(Graph& graph,
                         Output losses,
                         const LossOptions& options,
                         const NameScope& scope) {
  return compute_weighted_loss(graph, losses, options.weights, options.reduction, scope.name(),
                               options.collection);
}

double smoothing_argument(const Args& args) {
  const double smoothing = args.number("label_smoothing", 0);
  if (smoothing >= 0 && smoothing <= 1) return smoothing;
  invalid_argument("`label_smoothing` must be between 0 and 1, not ", smoothing, ".");
}

struct LabelsAndPredictions {
  Output labels, predictions;
};
LabelsAndPredictions as_floats(Graph& graph, Output labels, Output predictions) {
  predictions = cast(graph, predictions, DType::kFloat32);
  labels = cast(graph, labels, DType::kFloat32);
  check_compatible_shapes(labels, predictions);
  return {labels, predictions};
}

// Drops the last dimension of x if it is 1 and x has one dimension more than `rank`.
Output drop_last_dim_of_one(Graph& graph, Output x, int rank) {
  const Shape& shape = x.shape();
  if (!x || !shape.has_rank() || shape.rank() != rank + 1 || shape.dim(rank) != 1) return x;
  return graph.op("Squeeze", {x}).attr("squeeze_dims", std::vector<int64_t>{-1});
}

LossOptions loss_options(Graph& graph, const Args& args) {
  LossOptions options;
  double weight;
  const Value* weights = args.find("weights");
  if (weights && !(value_number(*weights, &weight) && weight == 1)) {
    options.weights = tensor_of_value(graph, *weights, "weights", DType::kFloat32);
  }
  options.reduction =
      reduction_from_name(args.text("reduction", "weighted_sum_by_nonzero_weights"));
  options.scope = args.text("scope", "");
  options.collection = args.text("loss_collection", "");
  return options;
}

// Reads the arguments of most losses. Reading them may add operations, so this happens before the
// loss opens its name scope.
struct LossCall {
  LossCall(Graph& graph,
           const Args& args,
           const char* labels_name = "labels",
           const char* predictions_name = "predictions")
      : options(loss_options(graph, args)),
        predictions(tensor_argument(graph, args, predictions_name, DType::kFloat32)),
        labels(tensor_argument(graph, args, labels_name, DType::kFloat32)) {}
  const LossOptions options;
  const Output predictions, labels;
};

}  // namespace

Output mean_squared_error(Graph& graph,
                          Output labels,
                          Output predictions,
                          Output weights,
                          Reduction reduction,
                          const std::string& scope_name,
                          const std::string& collection) {
  NameScope scope(graph, scope_name);
  const LabelsAndPredictions floats = as_floats(graph, labels, predictions);
  const Output losses = graph.op("SquaredDifference", {floats.predictions, floats.labels});
  return compute_weighted_loss(graph, losses, weights, reduction, scope.name(), collection);
}

namespace {

Value absolute_difference(Graph& graph, const Args& args) {
  const LossCall call(graph, args);
  NameScope scope(graph, scope_name_or(call.options, "absolute_difference"));
  const LabelsAndPredictions floats = as_floats(graph, call.labels, call.predictions);
  const Output losses = graph.op("Abs", {subtract(graph, floats.predictions, floats.labels)});
  return Value::of(weight_and_reduce(graph, losses, call.options, scope));
}

Value huber_loss(Graph& graph, const Args& args) {
  const LossCall call(graph, args);
  NameScope scope(graph, scope_name_or(call.options, "huber_loss"));
  const LabelsAndPredictions floats = as_floats(graph, call.labels, call.predictions);
  const Output error = subtract(graph, floats.predictions, floats.labels);
  const Output abs_error = graph.op("Abs", {error}),
               limit = number(graph, error, args.number("delta", 1));
  const Output quadratic = graph.op("Minimum", {abs_error, limit});
  const Output linear = subtract(graph, abs_error, quadratic);
  const Output half =
      multiply(graph, number(graph, error, 0.5), multiply(graph, quadratic, quadratic));
  return Value::of(weight_and_reduce(graph, add(graph, half, multiply(graph, limit, linear)),
                                     call.options, scope));
}

Value log_loss(Graph& graph, const Args& args) {
  const LossCall call(graph, args);
  NameScope scope(graph, scope_name_or(call.options, "log_loss"));
  const LabelsAndPredictions floats = as_floats(graph, call.labels, call.predictions);
  const Output p = floats.predictions, y = floats.labels;
  const Output one = number(graph, p, 1), epsilon = number(graph, p, args.number("epsilon", 1e-7));
  const Output log_p = graph.op("Log", {add(graph, p, epsilon)});
  const Output log_q = graph.op("Log", {add(graph, subtract(graph, one, p), epsilon)});
  const Output positive_class_loss = negative(graph, multiply(graph, y, log_p));
  const Output negative_class_log_p = multiply(graph, subtract(graph, one, y), log_q);
  return Value::of(weight_and_reduce(
      graph, subtract(graph, positive_class_loss, negative_class_log_p), call.options, scope));
}

Value hinge_loss(Graph& graph, const Args& args) {
  const LossCall call(graph, args, "labels", "logits");
  NameScope scope(graph, scope_name_or(call.options, "hinge_loss"));
  const LabelsAndPredictions floats = as_floats(graph, call.labels, call.predictions);
  const Output one = number(graph, floats.labels, 1), two = number(graph, floats.labels, 2);
  const Output sign = subtract(graph, multiply(graph, two, floats.labels), one);
  const Output margin = subtract(graph, one, multiply(graph, sign, floats.predictions));
  return Value::of(weight_and_reduce(graph, graph.op("Relu", {margin}), call.options, scope));
}

Value cosine_distance(Graph& graph, const Args& args) {
  const LossCall call(graph, args);
  NameScope scope(graph, scope_name_or(call.options, "cosine_distance_loss"));
  const LabelsAndPredictions floats = as_floats(graph, call.labels, call.predictions);
  const Output products = multiply(graph, floats.predictions, floats.labels);
  const Output sum = sum_along(graph, products, {args.integer("axis")}, true);
  return Value::of(
      weight_and_reduce(graph, subtract(graph, number(graph, sum, 1), sum), call.options, scope));
}

Value mean_pairwise_squared_error(Graph& graph, const Args& args) {
  const LossCall call(graph, args);
  NameScope scope(graph, scope_name_or(call.options, "mean_pairwise_squared_error"));
  const LabelsAndPredictions floats = as_floats(graph, call.labels, call.predictions);
  const Output diffs = subtract(graph, floats.predictions, floats.labels);
  const int rank = diffs.shape().rank();
  if (rank < 2) {
    invalid_argument("mean_pairwise_squared_error needs 2 or more dimensions; got shape ",
                     diffs.shape(), ".");
  }
  const Output one = number(graph, diffs, 1), two = number(graph, diffs, 2);
  const Output weights =
      call.options.weights ? cast(graph, call.options.weights, DType::kFloat32) : one;
  std::vector<int64_t> inner;
  for (int i = 1; i < rank; ++i) inner.push_back(i);
  const Output is_present = graph.op("NotEqual", {weights, number(graph, diffs, 0)});
  const Output present = cast(graph, is_present, DType::kFloat32);
  const Output weights_per_element = graph.op("BroadcastTo", {present, shape_of(graph, diffs)});
  const Output n = sum_along(graph, weights_per_element, inner, true);
  const Output n_minus_one =
      graph.op("Maximum", {subtract(graph, n, one), number(graph, diffs, 0)});
  const Output squares = sum_along(graph, graph.op("Square", {diffs}), inner, true);
  const Output term1 = multiply(graph, two, graph.op("DivNoNan", {squares, n_minus_one}));
  const Output sum = sum_along(graph, diffs, inner, true);
  const Output pairs = multiply(graph, n, n_minus_one);
  const Output term2 =
      multiply(graph, two, graph.op("DivNoNan", {graph.op("Square", {sum}), pairs}));
  const Output losses = multiply(graph, subtract(graph, term1, term2), weights);
  const Output total = sum_along(graph, losses, {});
  const Output has_elements =
      graph.op("Greater", {sum_along(graph, n, {}), number(graph, diffs, 0)});
  const Output loss =
      graph.op("SelectV2", {has_elements, total, graph.op("ZerosLike", {total})}).named("value");
  if (!call.options.collection.empty()) graph.add_to_collection(call.options.collection, loss);
  return Value::of(loss);
}

// Computes (1 - smoothing) * labels + offset.
Output smooth_labels(Graph& graph, Output labels, double smoothing, double offset) {
  const Output scaled_labels = multiply(graph, labels, number(graph, labels, 1 - smoothing));
  return add(graph, scaled_labels, number(graph, labels, offset));
}

Value sigmoid_cross_entropy(Graph& graph, const Args& args) {
  const LossCall call(graph, args, "multi_class_labels", "logits");
  NameScope scope(graph, scope_name_or(call.options, "sigmoid_cross_entropy_loss"));
  const Output logits = call.predictions;
  Output labels = cast(graph, call.labels, logits.dtype());
  check_compatible_shapes(labels, logits);
  const double label_smoothing = smoothing_argument(args);
  if (label_smoothing > 0) {
    labels = smooth_labels(graph, labels, label_smoothing, 0.5 * label_smoothing);
  }
  const Output losses = sigmoid_cross_entropy_with_logits(graph, labels, logits);
  return Value::of(weight_and_reduce(graph, losses, call.options, scope));
}

Value softmax_cross_entropy(Graph& graph, const Args& args) {
  const LossCall call(graph, args, "onehot_labels", "logits");
  NameScope scope(graph, scope_name_or(call.options, "softmax_cross_entropy_loss"));
  const Output logits = call.predictions;
  Output labels = cast(graph, call.labels, logits.dtype());
  check_compatible_shapes(labels, logits);
  const double label_smoothing = smoothing_argument(args);
  if (label_smoothing > 0) {
    const Shape& shape = labels.shape();
    const int64_t classes = shape.has_rank() ? shape.dim(shape.rank() - 1) : -1;
    if (classes < 1) invalid_argument("label_smoothing needs a known number of classes.");
    labels = smooth_labels(graph, labels, label_smoothing,
                           label_smoothing / static_cast<double>(classes));
  }
  labels = graph.op("StopGradient", {labels});
  const Output losses = softmax_cross_entropy_with_logits(graph, labels, logits, true);
  return Value::of(weight_and_reduce(graph, losses, call.options, scope));
}

}  // namespace

Output sparse_softmax_cross_entropy(Graph& graph,
                                    Output labels,
                                    Output logits,
                                    const LossOptions& options) {
  NameScope scope(graph, scope_name_or(options, "sparse_softmax_cross_entropy_loss"));
  const int rank = logits.shape().rank() - 1;
  labels = drop_last_dim_of_one(graph, labels, rank);
  LossOptions squeezed_options = options;
  if (options.weights)
    squeezed_options.weights = drop_last_dim_of_one(graph, options.weights, rank);
  const Output losses = sparse_softmax_cross_entropy_with_logits(graph, labels, logits);
  return weight_and_reduce(graph, losses, squeezed_options, scope);
}

namespace {

std::vector<Output> collection_tensors(const Graph& graph,
                                       const std::string& collection,
                                       const std::string& scope) {
  std::vector<Output> tensors;
  for (const CollectionItem& item : graph.collection(collection, scope)) {
    if (const auto* tensor = std::get_if<Output>(&item)) tensors.push_back(*tensor);
  }
  return tensors;
}

Value regularization_loss(Graph& graph, const Args& args) {
  const auto losses =
      collection_tensors(graph, collection_keys::kRegularizationLosses, args.text("scope", ""));
  if (losses.empty()) return Value::of(graph.scalar(DType::kFloat32, 0));
  const Output sum = graph.op("AddN", losses).named(args.text("name", "total_regularization_loss"));
  return Value::of(sum);
}

Value total_loss(Graph& graph, const Args& args) {
  const std::string scope = args.text("scope", "");
  std::vector<Output> losses = collection_tensors(graph, collection_keys::kLosses, scope);
  if (args.flag("add_regularization_losses", true)) {
    for (const Output& loss :
         collection_tensors(graph, collection_keys::kRegularizationLosses, scope)) {
      losses.push_back(loss);
    }
  }
  if (losses.empty()) {
    fail(Code::kFailedPrecondition, "No loss has been added to the graph",
         scope.empty() ? "." : str_cat(" in the scope '", scope, "'."));
  }
  const Output sum = graph.op("AddN", losses).named(args.text("name", "total_loss"));
  return Value::of(sum);
}

Value call_mean_squared_error(Graph& graph, const Args& args) {
  const LossCall call(graph, args);
  return Value::of(mean_squared_error(
      graph, call.labels, call.predictions, call.options.weights, call.options.reduction,
      scope_name_or(call.options, "mean_squared_error"), call.options.collection));
}
Value call_sparse_softmax_cross_entropy(Graph& graph, const Args& args) {
  const Output labels = tensor_argument(graph, args, "labels", DType::kInt32);
  const LossOptions options = loss_options(graph, args);
  const Output logits = tensor_argument(graph, args, "logits", DType::kFloat32);
  return Value::of(sparse_softmax_cross_entropy(graph, labels, logits, options));
}
Value call_compute_weighted_loss(Graph& graph, const Args& args) {
  const LossOptions options = loss_options(graph, args);
  const Output losses = tensor_argument(graph, args, "losses", DType::kFloat32);
  return Value::of(compute_weighted_loss(graph, losses, options.weights, options.reduction,
                                         scope_name_or(options, "weighted_loss"),
                                         options.collection));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "losses.mean_squared_error(labels, predictions, weights = 1, scope = NULL, loss_collection = "
    "'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The mean of the squared differences.",
    call_mean_squared_error);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.absolute_difference(labels, predictions, weights = 1, scope = NULL, loss_collection = "
    "'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The mean of the absolute differences.",
    absolute_difference);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.huber_loss(labels, predictions, weights = 1, delta = 1, scope = NULL, loss_collection "
    "= 'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The Huber loss: quadratic for errors up to delta, linear for larger errors.",
    huber_loss);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.log_loss(labels, predictions, weights = 1, epsilon = 1e-07, scope = NULL, "
    "loss_collection = 'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The log loss of probabilities.",
    log_loss);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.hinge_loss(labels, logits, weights = 1, scope = NULL, loss_collection = 'losses', "
    "reduction = 'weighted_sum_by_nonzero_weights')",
    "The hinge loss of logits for labels 0 and 1.",
    hinge_loss);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.cosine_distance(labels, predictions, axis = NULL, weights = 1, scope = NULL, "
    "loss_collection = 'losses', reduction = 'weighted_sum_by_nonzero_weights', dim as axis = "
    "NULL)",
    "The cosine distance of vectors with length 1.",
    cosine_distance);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.mean_pairwise_squared_error(labels, predictions, weights = 1, scope = NULL, "
    "loss_collection = 'losses')",
    "The squared error of the differences between all pairs of elements in an example.",
    mean_pairwise_squared_error);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.sigmoid_cross_entropy(multi_class_labels, logits, weights = 1, label_smoothing = 0, "
    "scope = NULL, loss_collection = 'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The sigmoid cross entropy for classes that are independent of each other.",
    sigmoid_cross_entropy);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.softmax_cross_entropy(onehot_labels, logits, weights = 1, label_smoothing = 0, scope = "
    "NULL, loss_collection = 'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The softmax cross entropy for mutually exclusive classes.",
    softmax_cross_entropy);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.sparse_softmax_cross_entropy(labels, logits, weights = 1, scope = NULL, "
    "loss_collection = 'losses', reduction = 'weighted_sum_by_nonzero_weights')",
    "The softmax cross entropy with class indices as labels.",
    call_sparse_softmax_cross_entropy);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.compute_weighted_loss(losses, weights = 1, scope = NULL, loss_collection = 'losses', "
    "reduction = 'weighted_sum_by_nonzero_weights')",
    "Multiplies losses by weights and reduces them to one number.",
    call_compute_weighted_loss);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.get_regularization_loss(scope = NULL, name = 'total_regularization_loss')",
    "The sum of the regularization losses.",
    regularization_loss);
RUNHOOKS_REGISTER_FUNCTION(
    "losses.get_total_loss(add_regularization_losses = TRUE, name = 'total_loss', scope = NULL)",
    "The sum of all losses.",
    total_loss);

}  // namespace runhooks
