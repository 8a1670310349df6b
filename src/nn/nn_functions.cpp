#include "nn/nn_functions.h"

#include <cmath>

#include "graph/graph_function.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output reduce_along(Graph& g, const char* type, Output x, Output axes, bool keep_dims) {
  return g.op(type, {x, axes}).attr("keep_dims", keep_dims);
}

Output zeros_like_tensor(Graph& g, Output x) { return g.op("ZerosLike", {x}); }

bool is_last_axis(Output x, int64_t axis) {
  return axis == -1 || (x.shape().has_rank() && axis == x.shape().rank() - 1);
}

Output crelu(Graph& g, Output x) {
  const NameScope scope(g, "CRelu");
  const Output concatenated =
      g.op("ConcatV2", {x, negative(g, x), g.scalar(DType::kInt32, -1, "axis")}).named("concat");
  return g.op("Relu", {concatenated}).named(scope.name());
}

Output swish(Graph& g, Output x) {
  const NameScope scope(g, "swish");
  return multiply(g, x, g.op("Sigmoid", {x}));
}

Output log_sigmoid(Graph& g, Output x) {
  const NameScope scope(g, "LogSigmoid");
  return negative(g, g.op("Softplus", {negative(g, x)}));
}

struct NamedActivation {
  const char* name;
  const char* op;  // set if the function is one operation
  Output (*function)(Graph&, Output);
};

const std::vector<NamedActivation>& activations() {
  static const auto* all = new std::vector<NamedActivation>{
      {"relu", "Relu", nullptr},
      {"relu6", "Relu6", nullptr},
      {"elu", "Elu", nullptr},
      {"selu", "Selu", nullptr},
      {"leaky_relu", "LeakyRelu", nullptr},
      {"sigmoid", "Sigmoid", nullptr},
      {"tanh", "Tanh", nullptr},
      {"softplus", "Softplus", nullptr},
      {"softsign", "Softsign", nullptr},
      {"softmax", nullptr, [](Graph& g, Output x) { return softmax(g, x); }},
      {"log_softmax", nullptr, [](Graph& g, Output x) { return log_softmax(g, x); }},
      {"crelu", nullptr, crelu},
      {"swish", nullptr, swish},
      {"log_sigmoid", nullptr, log_sigmoid}};
  return *all;
}

// Reshapes x to a matrix with the same last dimension.
Output flatten_outer_dims(Graph& g, Output x) {
  const Shape& shape = x.shape();
  if (shape.has_rank() && shape.rank() == 2) return x;
  const auto rank = static_cast<int32_t>(shape.rank());
  if (rank < 1) invalid_argument("logits must have a known rank of 1 or more; got ", shape, ".");
  const Output width = g.op("Slice", {shape_of(g, x), g.int_vector({rank - 1}), g.int_vector({1})});
  const Output dims = g.op("ConcatV2", {g.int_vector({-1}), width, g.scalar(DType::kInt32, 0)});
  Output matrix = g.op("Reshape", {x, dims});
  matrix.op->set_output_shape(0, Shape{Shape::kUnknownDim, shape.dim(rank - 1)});
  return matrix;
}

// Reshapes a vector with one number per row to the outer dimensions of `logits`: all but the last.
Output restore_outer_dims(Graph& g, Output rows, Output logits) {
  const Shape& shape = logits.shape();
  if (shape.rank() == 2) return rows;
  const auto rank = static_cast<int32_t>(shape.rank());
  const Output outer =
      g.op("Slice", {shape_of(g, logits), g.int_vector({0}), g.int_vector({rank - 1})});
  Output result = g.op("Reshape", {rows, outer});
  Shape static_shape;
  for (int i = 0; i + 1 < rank; ++i) static_shape.append(shape.dim(i));
  result.op->set_output_shape(0, static_shape);
  return result;
}

void check_logits_shape(Output labels, Output logits) {
  if (!labels.shape().is_compatible_with(logits.shape())) {
    invalid_argument("logits and labels must have the same shape (", logits.shape(), " vs ",
                     labels.shape(), ").");
  }
}

}  // namespace

void check_compatible_shapes(Output labels, Output predictions) {
  if (labels.shape().is_compatible_with(predictions.shape())) return;
  invalid_argument("Shapes ", predictions.shape(), " and ", labels.shape(), " are incompatible");
}

Output axes_of(Graph& graph, Output x, const std::vector<int64_t>& axes) {
  std::vector<int32_t> all;
  for (int64_t axis : axes) all.push_back(static_cast<int32_t>(axis));
  if (axes.empty() && !x.shape().has_rank()) {
    const Output rank = graph.op("Rank", {x});
    return graph.op("Range",
                    {graph.scalar(DType::kInt32, 0), rank, graph.scalar(DType::kInt32, 1)});
  }
  for (int i = 0; axes.empty() && i < x.shape().rank(); ++i) all.push_back(i);
  return graph.int_vector(all);
}

Output sum_along(Graph& graph, Output x, const std::vector<int64_t>& axes, bool keep_dims) {
  return reduce_along(graph, "Sum", x, axes_of(graph, x, axes), keep_dims);
}

Output activation(Graph& graph, const std::string& name, Output x) {
  std::vector<std::string> names;
  for (const NamedActivation& entry : activations()) {
    if (name == entry.name) {
      return entry.op ? static_cast<Output>(graph.op(entry.op, {x})) : entry.function(graph, x);
    }
    names.emplace_back(entry.name);
  }
  throw Error(Code::kInvalidArgument,
              str_cat("'", name, "' is not a known activation function in the 'tf$nn' module."),
              {str_cat("Available: ", str_join(names, ", "), ".")});
}

Output softmax(Graph& graph, Output logits, int64_t axis) {
  if (is_last_axis(logits, axis)) return graph.op("Softmax", {logits});
  const NameScope scope(graph, "Softmax");
  const Output max_logit = reduce_along(graph, "Max", logits, axes_of(graph, logits, {axis}), true);
  const Output shifted = subtract(graph, logits, graph.op("StopGradient", {max_logit}));
  const Output exponentials = graph.op("Exp", {shifted});
  return divide(graph, exponentials, sum_along(graph, exponentials, {axis}, true));
}

Output log_softmax(Graph& graph, Output logits, int64_t axis) {
  if (is_last_axis(logits, axis)) return graph.op("LogSoftmax", {logits});
  const NameScope scope(graph, "LogSoftmax");
  const Output max_logit = reduce_along(graph, "Max", logits, axes_of(graph, logits, {axis}), true);
  const Output shifted = subtract(graph, logits, graph.op("StopGradient", {max_logit}));
  const Output sum = sum_along(graph, graph.op("Exp", {shifted}), {axis}, true);
  return subtract(graph, shifted, graph.op("Log", {sum}));
}

Output sigmoid_cross_entropy_with_logits(Graph& graph, Output labels, Output logits) {
  check_logits_shape(labels, logits);
  const NameScope scope(graph, "logistic_loss");
  // max(x, 0) and -|x| are computed by comparisons: Relu and Abs would have another gradient at 0.
  // The order of ops is TensorFlow's, so that sums of gradients have the same bits.
  const Output product = multiply(graph, logits, labels);
  const Output zeros = zeros_like_tensor(graph, logits);
  const Output is_positive = graph.op("GreaterEqual", {logits, zeros});
  const Output negative_abs =
      graph.op("SelectV2", {is_positive, negative(graph, logits), logits}).named("Select_1");
  const Output relu = graph.op("SelectV2", {is_positive, logits, zeros}).named("Select");
  const Output linear = subtract(graph, relu, product);
  return graph.op("AddV2", {linear, graph.op("Softplus", {negative_abs})}).named(scope.name());
}

Output softmax_cross_entropy_with_logits(Graph& graph,
                                         Output labels,
                                         Output logits,
                                         bool differentiates_labels) {
  check_logits_shape(labels, logits);
  const NameScope scope(graph, "softmax_cross_entropy_with_logits");
  if (!differentiates_labels) labels = graph.op("StopGradient", {labels});
  Operation* op = graph.op("SoftmaxCrossEntropyWithLogits",
                           {flatten_outer_dims(graph, logits), flatten_outer_dims(graph, labels)});
  return restore_outer_dims(graph, op->output(0), logits);
}

Output sparse_softmax_cross_entropy_with_logits(Graph& graph, Output labels, Output logits) {
  const NameScope scope(graph, "SparseSoftmaxCrossEntropyWithLogits");
  const Shape& shape = labels.shape();
  if (shape.has_rank() && logits.shape().has_rank() && shape.rank() != logits.shape().rank() - 1) {
    invalid_argument("Rank mismatch: rank of labels (received ", shape.rank(),
                     ") should equal rank of logits minus 1 (received ", logits.shape().rank(),
                     ").");
  }
  const Output rows =
      shape.rank() == 1
          ? labels
          : static_cast<Output>(graph.op("Reshape", {labels, graph.int_vector({-1})}));
  Operation* op =
      graph.op("SparseSoftmaxCrossEntropyWithLogits", {flatten_outer_dims(graph, logits), rows});
  return restore_outer_dims(graph, op->output(0), logits);
}

Output weighted_cross_entropy_with_logits(Graph& graph,
                                          Output targets,
                                          Output logits,
                                          Output pos_weight) {
  check_logits_shape(targets, logits);
  const NameScope scope(graph, "logistic_loss");
  const Output one = number(graph, logits, 1);
  const Output extra_weight = multiply(graph, subtract(graph, pos_weight, one), targets);
  const Output log_weight = add(graph, one, extra_weight);
  const Output log_term = graph.op("Softplus", {negative(graph, graph.op("Abs", {logits}))});
  const Output relu = graph.op("Relu", {negative(graph, logits)});
  const Output linear = multiply(graph, subtract(graph, one, targets), logits);
  return add(graph, linear, multiply(graph, log_weight, add(graph, log_term, relu)));
}

Output log_poisson_loss(Graph& graph, Output targets, Output log_input, bool full) {
  check_logits_shape(targets, log_input);
  const NameScope scope(graph, "log_poisson_loss");
  const Output product = multiply(graph, log_input, targets);
  Output loss = subtract(graph, graph.op("Exp", {log_input}), product);
  if (!full) return loss;
  // Adds Stirling's approximation of log(targets!). It is 0 for targets in [0, 1].
  const Output zero = number(graph, targets, 0), one = number(graph, targets, 1);
  const Output is_at_most_one = graph.op("LogicalAnd", {graph.op("GreaterEqual", {targets, zero}),
                                                        graph.op("LessEqual", {targets, one})});
  const Output safe_targets =
      graph.op("SelectV2", {is_at_most_one, ones_like(graph, targets), targets});
  const Output logs = graph.op("Log", {safe_targets});
  const Output leading_term = subtract(graph, multiply(graph, safe_targets, logs), safe_targets);
  const Output half =
      multiply(graph, number(graph, targets, 0.5),
               add(graph, number(graph, targets, 1.8378770664093453 /* log(2 pi) */), logs));
  const Output stirling = add(graph, leading_term, half);
  return add(graph, loss,
             graph.op("SelectV2", {is_at_most_one, zeros_like_tensor(graph, targets), stirling}));
}

Output l2_normalize(Graph& graph, Output x, const std::vector<int64_t>& axes, double epsilon) {
  const NameScope scope(graph, "l2_normalize");
  const Output squares = sum_along(graph, graph.op("Square", {x}), axes, true);
  const Output bounded = graph.op("Maximum", {squares, number(graph, x, epsilon)});
  return multiply(graph, x, graph.op("Rsqrt", {bounded}));
}

Moments moments(Graph& graph, Output x, const std::vector<int64_t>& axes, bool keep_dims) {
  const NameScope scope(graph, "moments");
  std::vector<int32_t> dims;
  for (int64_t axis : axes) dims.push_back(static_cast<int32_t>(axis));
  for (int i = 0; axes.empty() && i < x.shape().rank(); ++i) dims.push_back(i);
  const Output mean_axes = graph.int_vector(dims, "mean/reduction_indices");
  const Output mean = graph.op("Mean", {x, mean_axes}).attr("keep_dims", true).named("mean");
  // The gradient with respect to the mean is 0, because the mean minimizes the sum of squares.
  const Output constant_mean = graph.op("StopGradient", {mean});
  const Output squares = graph.op("SquaredDifference", {x, constant_mean});
  const Output variance_axes = graph.int_vector(dims, "variance/reduction_indices");
  const Output variance =
      graph.op("Mean", {squares, variance_axes}).attr("keep_dims", true).named("variance");
  if (keep_dims) return {mean, variance};
  const std::vector<int64_t> squeezed(dims.begin(), dims.end());
  return {graph.op("Squeeze", {mean}).attr("squeeze_dims", squeezed),
          graph.op("Squeeze", {variance}).attr("squeeze_dims", squeezed)};
}

Output batch_normalization(Graph& graph,
                           Output x,
                           Output mean,
                           Output variance,
                           Output offset,
                           Output scale,
                           double epsilon) {
  const NameScope scope(graph, "batchnorm");
  const Output small = graph.scalar(x.dtype(), epsilon, "add/y");
  Output factor = graph.op("Rsqrt", {add(graph, variance, small)});
  if (scale) factor = multiply(graph, factor, scale);
  const Output scaled = multiply(graph, x, factor);
  const Output shift = multiply(graph, mean, factor);
  const Output centered_offset = offset ? subtract(graph, offset, shift) : negative(graph, shift);
  return add(graph, scaled, centered_offset);
}

namespace {

// Calls `kFunction` along the argument `axis`. For the last axis, adds one operation called `name`;
// otherwise, several in a scope of this name.
template <const char* const& kType, Output (*kFunction)(Graph&, Output, int64_t)>
Value call_along_axis(Graph& g, const Args& args) {
  const Output logits = tensor_argument(g, args, "logits");
  const int64_t axis = args.integer("axis", -1);
  const std::string name = args.text("name", kType);
  if (is_last_axis(logits, axis)) {
    return Value::of(g.op(kType, {logits}).named(name));
  }
  const NameScope scope(g, name);
  return Value::of(kFunction(g, logits, axis));
}
constexpr const char* kSoftmax = "Softmax";
constexpr const char* kLogSoftmax = "LogSoftmax";
Value call_crelu(Graph& g, const Args& args) {
  return Value::of(activation(g, "crelu", tensor_argument(g, args, "features")));
}
Value call_swish(Graph& g, const Args& args) {
  return Value::of(activation(g, "swish", tensor_argument(g, args, "features")));
}
Value call_log_sigmoid(Graph& g, const Args& args) {
  return Value::of(activation(g, "log_sigmoid", tensor_argument(g, args, "x")));
}
void check_last_axis(const Args& args, Output logits) {
  const int64_t axis = args.integer("axis", -1);
  if (axis == -1 || axis == logits.shape().rank() - 1) return;
  fail(Code::kUnimplemented, "`axis` of ", args.owner(), " must be the last one (-1), not ", axis,
       ".");
}
Value call_sigmoid_cross_entropy(Graph& g, const Args& args) {
  const Output logits = tensor_argument(g, args, "logits");
  const Output labels = tensor_argument(g, args, "labels", logits.dtype());
  return Value::of(sigmoid_cross_entropy_with_logits(g, labels, logits));
}
template <bool kDifferentiatesLabels>
Value call_softmax_cross_entropy(Graph& g, const Args& args) {
  const Output logits = tensor_argument(g, args, "logits");
  check_last_axis(args, logits);
  const Output labels = cast(g, tensor_argument(g, args, "labels", logits.dtype()), logits.dtype());
  return Value::of(softmax_cross_entropy_with_logits(g, labels, logits, kDifferentiatesLabels));
}
Value call_sparse_cross_entropy(Graph& g, const Args& args) {
  const Output logits = tensor_argument(g, args, "logits");
  const Output labels = tensor_argument(g, args, "labels", DType::kInt32);
  return Value::of(sparse_softmax_cross_entropy_with_logits(g, labels, logits));
}
Value call_weighted_cross_entropy(Graph& g, const Args& args) {
  const Output logits = tensor_argument(g, args, "logits");
  const Output targets = tensor_argument(g, args, "targets", logits.dtype());
  const Output weight = tensor_argument(g, args, "pos_weight", logits.dtype());
  return Value::of(weighted_cross_entropy_with_logits(g, targets, logits, weight));
}
Value call_log_poisson_loss(Graph& g, const Args& args) {
  const Output log_input = tensor_argument(g, args, "log_input");
  const Output targets = tensor_argument(g, args, "targets", log_input.dtype());
  return Value::of(log_poisson_loss(g, targets, log_input, args.flag("compute_full_loss", false)));
}
Value call_l2_normalize(Graph& g, const Args& args) {
  const std::vector<int64_t> axes = whole_numbers(args, "axis");
  return Value::of(
      l2_normalize(g, tensor_argument(g, args, "x"), axes, args.number("epsilon", 1e-12)));
}
Value call_moments(Graph& g, const Args& args) {
  args.find("shift");  // accepted and ignored, as in TensorFlow
  const Moments moments_of_x = moments(g, tensor_argument(g, args, "x"),
                                       whole_numbers(args, "axes"), args.flag("keep_dims", false));
  return value_list({moments_of_x.mean, moments_of_x.variance});
}
Value call_batch_normalization(Graph& g, const Args& args) {
  const Output x = tensor_argument(g, args, "x");
  return Value::of(batch_normalization(g, x, tensor_argument(g, args, "mean", x.dtype()),
                                       tensor_argument(g, args, "variance", x.dtype()),
                                       tensor_argument_or_none(g, args, "offset", x.dtype()),
                                       tensor_argument_or_none(g, args, "scale", x.dtype()),
                                       args.number("variance_epsilon")));
}
Value call_top_k(Graph& g, const Args& args) {
  const Output input = tensor_argument(g, args, "input");
  const Value* argument = args.find("k");
  const Output k = argument && argument->get_if<Output>()
                       ? *argument->get_if<Output>()
                       : g.scalar(DType::kInt32, args.number("k", 1), "k");
  Operation* op = g.op("TopKV2", {input, k}).attr("sorted", args.flag("sorted", true));
  return value_record({{"values", op->output(0)}, {"indices", op->output(1)}});
}
Value call_in_top_k(Graph& g, const Args& args) {
  const Output targets = tensor_argument(g, args, "targets", DType::kInt32);
  const Output k = g.scalar(targets.dtype(), args.number("k"), "k");
  return Value::of(g.op("InTopKV2", {tensor_argument(g, args, "predictions"), targets, k}));
}
Value call_one_hot(Graph& g, const Args& args) {
  const Value *on = args.find("on_value"), *off = args.find("off_value");
  DType dtype = dtype_argument(args, "dtype", DType::kInvalid);
  for (const Value* value : {on, off}) {
    if (!value || dtype != DType::kInvalid) continue;
    dtype = tensor_of_value(g, *value, "value").dtype();
  }
  if (dtype == DType::kInvalid) dtype = DType::kFloat32;
  const Output indices = tensor_argument(g, args, "indices", DType::kInt32);
  const Output depth = tensor_argument(g, args, "depth", DType::kInt32);
  const Output hot = on ? tensor_of_value(g, *on, "on_value", dtype) : g.scalar(dtype, 1, "Const");
  const Output cold =
      off ? tensor_of_value(g, *off, "off_value", dtype) : g.scalar(dtype, 0, "Const");
  return Value::of(g.op("OneHot", {indices, depth, hot, cold})
                       .attr("axis", args.integer("axis", -1))
                       .named(args.text("name", "one_hot")));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION("nn.softmax(logits, axis = NULL, name = NULL, dim as axis = NULL)",
                           "The softmax along an axis: exp(logits) divided by its sum.",
                           call_along_axis<kSoftmax, softmax>);
RUNHOOKS_REGISTER_FUNCTION("nn.log_softmax(logits, axis = NULL, name = NULL, dim as axis = NULL)",
                           "The logarithm of the softmax along an axis.",
                           call_along_axis<kLogSoftmax, log_softmax>);
RUNHOOKS_REGISTER_SCOPED_FUNCTION("nn.crelu(features, name = NULL, axis = -1)",
                                  "Concatenates relu(features) and relu(-features).",
                                  call_crelu);
RUNHOOKS_REGISTER_FUNCTION("nn.swish(features)", "features * sigmoid(features).", call_swish);
RUNHOOKS_REGISTER_SCOPED_FUNCTION("log_sigmoid, math.log_sigmoid, nn.log_sigmoid(x, name = NULL)",
                                  "The logarithm of the sigmoid.",
                                  call_log_sigmoid);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.sigmoid_cross_entropy_with_logits(_sentinel = NULL, labels = NULL, logits = NULL, name = "
    "NULL)",
    "The sigmoid cross entropy of each element.",
    call_sigmoid_cross_entropy);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.softmax_cross_entropy_with_logits(_sentinel = NULL, labels = NULL, logits = NULL, dim as "
    "axis = -1, name = NULL, axis = NULL)",
    "The softmax cross entropy of each row; labels get no gradient.",
    call_softmax_cross_entropy<false>);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis = NULL, name = NULL, dim as axis "
    "= NULL)",
    "The softmax cross entropy of each row.",
    call_softmax_cross_entropy<true>);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.sparse_softmax_cross_entropy_with_logits(_sentinel = NULL, labels = NULL, logits = NULL, "
    "name = NULL)",
    "The softmax cross entropy of each row, with class indices as labels.",
    call_sparse_cross_entropy);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.weighted_cross_entropy_with_logits(labels as targets = NULL, logits = NULL, pos_weight = "
    "NULL, name = NULL, targets = NULL)",
    "The sigmoid cross entropy with a weight for positive labels.",
    call_weighted_cross_entropy);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.log_poisson_loss(targets, log_input, compute_full_loss = FALSE, name = NULL)",
    "The Poisson loss; log_input is the logarithm of the predicted rate.",
    call_log_poisson_loss);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.l2_normalize, math.l2_normalize(x, axis = NULL, epsilon = 1e-12, name = NULL, dim as axis "
    "= NULL)",
    "Scales x to an L2 norm of 1 along axes.",
    call_l2_normalize);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.moments(x, axes, shift = NULL, name = NULL, keep_dims = NULL, keepdims as keep_dims = "
    "NULL)",
    "The mean and variance along axes.",
    call_moments);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name = NULL)",
    "Normalizes x by mean and variance, then applies scale and offset.",
    call_batch_normalization);
RUNHOOKS_REGISTER_SCOPED_FUNCTION(
    "nn.top_k, math.top_k(input, k = 1, sorted = TRUE, name = NULL)",
    "The k largest elements along the last dimension and their indices.",
    call_top_k);
RUNHOOKS_REGISTER_SCOPED_FUNCTION("nn.in_top_k(predictions, targets, k, name = NULL)",
                                  "Whether the target is among the top k predictions.",
                                  call_in_top_k);
RUNHOOKS_REGISTER_FUNCTION(
    "one_hot(indices, depth, on_value = NULL, off_value = NULL, axis = NULL, dtype = NULL, name = "
    "NULL)",
    "on_value at the indices, off_value elsewhere.",
    call_one_hot);

}  // namespace runhooks
