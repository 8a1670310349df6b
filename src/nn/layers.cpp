#include "nn/layers.h"

#include "graph/graph_function.h"
#include "graph/partitioned.h"
#include "nn/layer_parts.h"
#include "nn/nn_functions.h"
#include "nn/replicas.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

std::string layer_name(Graph& graph, const std::string& name, const char* otherwise) {
  if (!name.empty()) return name;
  const VariableStore& store = graph.variables();
  std::string unique = otherwise;
  for (int i = 1; store.has_scope(unique); ++i) unique = str_cat(otherwise, "_", i);
  return unique;
}

namespace {

void regularize(Graph& graph, const TensorFunction& regularizer, Output value, Output variable) {
  if (!regularizer) return;
  const NameScope scope(graph, variable.op->name() + "/Regularizer/");
  graph.add_to_collection(collection_keys::kRegularizationLosses, regularizer(graph, value));
}

}  // namespace

Output parameter(Graph& graph,
                 const std::string& name,
                 const Shape& shape,
                 const VariableOptions& options,
                 const TensorFunction& regularizer) {
  VariableStore& store = graph.variables();
  if (store.current().getter) {
    const Output value = store.get_or_call_getter(name, shape, options).value;
    regularize(graph, regularizer, value, value);
    return value;
  }
  const std::vector<VariablePtr> parts = store.get_partitioned(name, shape, options);
  const Output value = full_value(graph, parts);
  regularize(graph, regularizer, value, parts.front()->handle);
  return value;
}

namespace {

int64_t last_dim(Output x, const char* layer) {
  const Shape& shape = x.shape();
  const int64_t width = shape.has_rank() && shape.rank() > 0 ? shape.dim(shape.rank() - 1) : -1;
  if (width < 0) {
    invalid_argument("The last dimension of the inputs to `", layer,
                     "` should be defined; their shape is ", shape, ".");
  }
  return width;
}

// Multiplies the last dimension of x by a matrix; x may have any rank.
Output multiply_last_dim(Graph& graph, Output x, Output matrix) {
  const int rank = x.shape().rank();
  if (rank == 2) return graph.op("MatMul", {x, matrix});
  const NameScope scope(graph, "Tensordot");
  const auto width = static_cast<int32_t>(matrix.shape().dim(0));
  const auto units = static_cast<int32_t>(matrix.shape().dim(1));
  const Output rows = graph.op("Reshape", {x, graph.int_vector({-1, width}, "shape")});
  const Output product = graph.op("MatMul", {rows, matrix});
  const Output outer = graph.op("Slice", {shape_of(graph, x), graph.int_vector({0}),
                                          graph.int_vector({static_cast<int32_t>(rank) - 1})});
  const Output dims = graph.op(
      "ConcatV2", {outer, graph.int_vector({units}), graph.scalar(DType::kInt32, 0, "axis")});
  Output result = graph.op("Reshape", {product, dims}).named(scope.name());
  Shape shape = x.shape();
  shape.set_dim(rank - 1, units);
  result.op->set_output_shape(0, shape);
  return result;
}

bool uses_sync_batch_norm(const Graph& graph) {
  const ReplicaScope* replicas = ReplicaScope::of(graph);
  return replicas && replicas->sync_batch_norm;
}

// Adds (1 - momentum) * (batch - average) to the moving average. The op is in `update_ops`.
void update_moving_average(Graph& graph,
                           const VariableGetterResult& moving,
                           Output batch,
                           double momentum) {
  const VariablePtr& average = moving.variable;
  if (!average) {
    invalid_argument("Moving average '", moving.value.name(), "' must be a variable for ",
                     "training, but a custom getter replaced it.");
  }
  const NameScope scope(graph, "AssignMovingAvg");
  const Output decay = graph.scalar(average->dtype, 1 - momentum, "decay");
  // In distributed training, every process uses the mean over all processes.
  const Output replica_mean =
      uses_sync_batch_norm(graph) ? batch : mean_over_replicas(graph, batch);
  const Output difference = subtract(graph, average->snapshot, replica_mean);
  const Output step = multiply(graph, difference, decay);
  const char* type = average->is_resource ? "AssignSubVariableOp" : "AssignSub";
  Operation* update = graph.op(type, {average->handle, step}).named(scope.name());
  if (update->num_outputs() > 0) {
    graph.add_to_collection(collection_keys::kUpdateOps, update->output(0));
  } else {
    graph.add_to_collection(collection_keys::kUpdateOps, update);
  }
}

}  // namespace

Output dense(Graph& graph,
             Output inputs,
             int64_t units,
             const DenseOptions& options,
             const std::string& name) {
  if (units < 1) invalid_argument("`units` must be 1 or more, not ", units, ".");
  if (!is_floating(inputs.dtype())) {
    invalid_argument("Unable to build `Dense` layer with non-floating point dtype ",
                     dtype_name(inputs.dtype()), ".");
  }
  const Shape kernel_shape{last_dim(inputs, "Dense"), units};
  return layer_with_kernel(
      graph, layer_name(graph, name, "dense"), options, inputs.dtype(), kernel_shape, units,
      [&graph, &inputs](Output kernel) { return multiply_last_dim(graph, inputs, kernel); });
}

Output layer_with_kernel(Graph& graph,
                         const std::string& name,
                         const DenseOptions& options,
                         DType dtype,
                         const Shape& kernel_shape,
                         int64_t units,
                         const std::function<Output(Output kernel)>& multiply) {
  VariableScope scope(graph, name);
  if (options.reuse != VariableStore::Reuse::kNever) scope.options().reuse = options.reuse;
  VariableOptions variable;
  variable.dtype = dtype;
  variable.trainable = options.trainable;
  variable.collections = options.collections;
  variable.initializer = options.kernel_initializer;
  variable.constraint = options.kernel_constraint;
  const Output kernel =
      parameter(graph, options.kernel_name, kernel_shape, variable, options.kernel_regularizer);
  Output bias;
  if (options.use_bias) {
    variable.initializer =
        options.bias_initializer ? options.bias_initializer : zeros_initializer();
    variable.constraint = options.bias_constraint;
    bias = parameter(graph, options.bias_name, Shape{units}, variable, options.bias_regularizer);
  }
  Output x = multiply(kernel);
  if (bias) x = graph.op("BiasAdd", {x, bias});
  if (options.activation) x = options.activation(graph, x);
  if (options.activity_regularizer) {
    const NameScope scope(graph, "ActivityRegularizer");
    const Output loss = options.activity_regularizer(graph, x);
    // Divides by the batch size, so that the loss does not depend on it.
    const Output rows = graph
                            .op("StridedSlice", {shape_of(graph, x), graph.int_vector({0}),
                                                 graph.int_vector({1}), graph.int_vector({1})})
                            .attr("shrink_axis_mask", 1);
    graph.add_to_collection(collection_keys::kRegularizationLosses,
                            divide(graph, loss, cast(graph, rows, loss.dtype())));
  }
  return x;
}

Output dropout(
    Graph& graph, Output x, Output rate, Seed seed, Output noise_shape, const std::string& name) {
  const NameScope scope(graph, name);
  const Output shape = noise_shape ? noise_shape : shape_of(graph, x);
  const Output random = random_uniform(graph, shape, 0, 1, x.dtype(), seed);
  const Output keep_prob = subtract(graph, graph.scalar(x.dtype(), 1, "sub/x"), rate);
  const Output scale = divide(graph, graph.scalar(x.dtype(), 1, "truediv/x"), keep_prob);
  const Output mask = graph.op("GreaterEqual", {random, rate});
  const Output scaled = multiply(graph, x, scale);
  Output result = multiply(graph, scaled, cast(graph, mask, x.dtype()));
  result.op->set_output_shape(0, x.shape());
  return result;
}

Output dropout(Graph& graph, Output x, double rate, Seed seed) {
  if (rate < 0 || rate >= 1) {
    invalid_argument("`rate` must be in [0, 1), not ", rate, ".");
  }
  if (rate == 0) return x;
  if (!is_floating(x.dtype())) {
    invalid_argument("Dropout needs a floating-point tensor, because it is scaled; got ",
                     dtype_name(x.dtype()), ".");
  }
  const NameScope scope(graph, "dropout");
  return dropout(graph, x, graph.scalar(x.dtype(), rate, "rate"), seed, Output(), scope.name());
}

namespace {

int checked_axis(const Shape& shape, int64_t axis) {
  const int rank = shape.has_rank() ? shape.rank() : 0;
  const int64_t nonnegative_axis = axis < 0 ? axis + rank : axis;
  if (nonnegative_axis < 0 || nonnegative_axis >= rank) {
    invalid_argument("Invalid axis ", axis, " of batch normalization for inputs of shape ", shape,
                     ".");
  }
  if (shape.dim(static_cast<int>(nonnegative_axis)) < 0) {
    invalid_argument("Dimension ", axis, " of the inputs to `BatchNormalization` should be ",
                     "defined; their shape is ", shape, ".");
  }
  return static_cast<int>(nonnegative_axis);
}

// Selects between two values by the tensor `is_training`, when the graph runs. Without the tensor,
// returns the value for training.
Output select_by_mode(Graph& graph, Output is_training, Output training, Output inference) {
  if (!is_training) return training;
  return graph.op("Select", {is_training, training, inference}).named("cond/Merge");
}

// Returns the number of elements that each element of `mean` summarizes.
Output elements_per_mean(Graph& graph, Output inputs, Output mean) {
  const Output n = cast(graph, graph.op("Size", {inputs}), mean.dtype());
  const Output means = cast(graph, graph.op("Size", {mean}), mean.dtype());
  const Output count = divide(graph, n, means);
  return uses_sync_batch_norm(graph) ? sum_over_replicas(graph, count) : count;
}

// Returns the Bessel correction n / (n - 1), which makes a variance unbiased.
Output bessel_correction(Graph& graph, Output inputs, Output mean) {
  const Output count = elements_per_mean(graph, inputs, mean), one = graph.scalar(mean.dtype(), 1);
  const Output freedom = graph.op("Maximum", {subtract(graph, count, one), one});
  return divide(graph, count, freedom);
}

// Returns the mean and variance over the rows of all training processes.
Moments global_moments(Graph& graph, Output x, const std::vector<int64_t>& axes) {
  const SharedSeedScope same(graph);
  const NameScope scope(graph, "moments");
  const Output dims = graph.int_vector({axes.begin(), axes.end()}, "reduction_indices");
  const auto sum = [&](Output y) {
    return Output(graph.op("Sum", {y, dims}).attr("keep_dims", true));
  };
  const Output local_sum = sum(x), count = elements_per_mean(graph, x, local_sum);
  const Output mean = divide(graph, differentiable_sum_over_replicas(graph, local_sum), count);
  // The gradient with respect to the mean is 0, because the mean minimizes the sum of squares.
  const Output centre = graph.op("StopGradient", {mean});
  const Output squares = sum(graph.op("SquaredDifference", {x, centre}));
  const Output variance = divide(graph, differentiable_sum_over_replicas(graph, squares), count);
  return {graph.op("Squeeze", {mean}).attr("squeeze_dims", axes),
          graph.op("Squeeze", {variance}).attr("squeeze_dims", axes)};
}

}  // namespace

Output batch_normalization_layer(Graph& graph,
                                 Output inputs,
                                 const BatchNormOptions& options,
                                 const std::string& name) {
  VariableScope scope(graph, layer_name(graph, name, "batch_normalization"));
  if (options.reuse != VariableStore::Reuse::kNever) scope.options().reuse = options.reuse;
  const int axis = checked_axis(inputs.shape(), options.axis), rank = inputs.shape().rank();
  const int64_t width = inputs.shape().dim(axis);
  const Shape shape{width};
  VariableOptions variable;
  variable.dtype = inputs.dtype();
  variable.trainable = options.trainable;
  auto initial = [](const Initializer& given, Initializer otherwise) {
    return given ? given : otherwise;
  };
  Output gamma, beta;
  if (options.scale) {
    variable.initializer = initial(options.gamma_initializer, ones_initializer());
    gamma = parameter(graph, "gamma", shape, variable, options.gamma_regularizer);
  }
  if (options.center) {
    variable.initializer = initial(options.beta_initializer, zeros_initializer());
    beta = parameter(graph, "beta", shape, variable, options.beta_regularizer);
  }
  // Moving averages are never partitioned.
  variable.trainable = false;
  variable.initializer = initial(options.moving_mean_initializer, zeros_initializer());
  const VariableGetterResult moving_mean =
      graph.variables().get_or_call_getter("moving_mean", shape, variable);
  variable.initializer = initial(options.moving_variance_initializer, ones_initializer());
  const VariableGetterResult moving_variance =
      graph.variables().get_or_call_getter("moving_variance", shape, variable);
  // Reshapes parameters of an axis other than the last so that they broadcast.
  auto along_axis = [&](Output x) -> Output {
    if (!x || axis == rank - 1) return x;
    std::vector<int32_t> dims(static_cast<size_t>(rank), 1);
    dims[static_cast<size_t>(axis)] = static_cast<int32_t>(width);
    return graph.op("Reshape", {x, graph.int_vector(dims, "Reshape/shape")});
  };
  beta = along_axis(beta);
  gamma = along_axis(gamma);
  Moments selected{moving_mean.value, moving_variance.value};
  if (options.training || options.is_training) {
    std::vector<int64_t> axes;
    for (int i = 0; i < rank; ++i) {
      if (i != axis) axes.push_back(i);
    }
    Moments batch = moments(graph, inputs, axes);
    if (uses_sync_batch_norm(graph)) batch = global_moments(graph, inputs, axes);
    selected.mean = select_by_mode(graph, options.is_training, batch.mean, selected.mean);
    selected.variance =
        select_by_mode(graph, options.is_training, batch.variance, selected.variance);
    update_moving_average(graph, moving_mean, selected.mean, options.momentum);
    Output variance = selected.variance;
    if (options.fused && rank == 4 && (axis == 1 || axis == 3)) {
      variance = multiply(graph, batch.variance, bessel_correction(graph, inputs, batch.mean));
      variance = select_by_mode(graph, options.is_training, variance, moving_variance.value);
    }
    update_moving_average(graph, moving_variance, variance, options.momentum);
  }
  return batch_normalization(graph, inputs, along_axis(selected.mean),
                             along_axis(selected.variance), beta, gamma, options.epsilon);
}

Output flatten(Graph& graph, Output inputs, const std::string& name) {
  const NameScope scope(graph, name);
  const Shape& shape = inputs.shape();
  int64_t width = 1;
  for (int i = 1; i < shape.rank(); ++i) {
    width = product_of_dims(width, shape.dim(i));
  }
  if (!shape.has_rank() || shape.rank() < 1 || width < 0) {
    invalid_argument("flatten needs inputs with known dimensions except the first; got shape ",
                     shape, ".");
  }
  const Output dims = graph.int_vector({-1, static_cast<int32_t>(width)}, "Reshape/shape");
  Output result = graph.op("Reshape", {inputs, dims});
  result.op->set_output_shape(0, Shape{shape.dim(0), width});
  return result;
}

TensorFunction function_argument(const Args& args, const std::string& name) {
  const Value* value = args.find(name);
  if (!value) return nullptr;
  if (const auto* text = value->get_if<std::string>()) {
    return [kind = *text](Graph& graph, Output x) { return activation(graph, kind, x); };
  }
  const std::shared_ptr<Callable> function = args.callable(name);
  return [function, name](Graph& graph, Output x) {
    return tensor_of_value(graph, function->call({Value::of(x)}), name);
  };
}

VariableStore::Reuse reuse_argument(const Args& args) {
  const Value* value = args.find("reuse");
  if (!value) return VariableStore::Reuse::kNever;
  if (value->get_if<std::string>()) return VariableStore::Reuse::kAuto;
  return args.flag("reuse", false) ? VariableStore::Reuse::kAlways : VariableStore::Reuse::kNever;
}

DenseOptions dense_options(const Args& args) {
  DenseOptions options;
  options.activation = function_argument(args, "activation");
  options.use_bias = args.flag("use_bias", true);
  options.kernel_initializer = initializer_argument(args, "kernel_initializer");
  options.bias_initializer = initializer_argument(args, "bias_initializer");
  options.kernel_regularizer = function_argument(args, "kernel_regularizer");
  options.bias_regularizer = function_argument(args, "bias_regularizer");
  options.activity_regularizer = function_argument(args, "activity_regularizer");
  options.kernel_constraint = function_argument(args, "kernel_constraint");
  options.bias_constraint = function_argument(args, "bias_constraint");
  options.trainable = args.flag("trainable", true);
  options.reuse = reuse_argument(args);
  return options;
}

namespace {

Value call_dense(Graph& graph, const Args& args) {
  return Value::of(dense(graph, tensor_argument(graph, args, "inputs"), args.integer("units"),
                         dense_options(args), args.text("name", "")));
}

// tf.contrib.layers.fully_connected differs from tf.layers.dense in the names of its variables and
// in the collection model_variables.
Value call_fully_connected(Graph& graph, const Args& args) {
  DenseOptions options = dense_options(args);
  options.kernel_name = "weights";
  options.bias_name = "biases";
  options.collections.emplace_back(collection_keys::kModelVariables);
  const std::string name = layer_name(graph, args.text("scope", ""), "fully_connected");
  return Value::of(dense(graph, tensor_argument(graph, args, "inputs"), args.integer("num_outputs"),
                         options, name));
}

// Returns the dropout rate: `rate` or 1 - `keep_prob`, as a number or a tensor.
Value rate_argument(Graph& graph, const Args& args, DType dtype) {
  const Value *rate = args.find("rate"), *keep_prob = args.find("keep_prob");
  if ((rate != nullptr) == (keep_prob != nullptr))
    invalid_argument("Give one of `rate` and `keep_prob`.");
  if (rate) return *rate;
  double number;
  if (value_number(*keep_prob, &number)) return Value::of(1 - number);
  const Output share = tensor_of_value(graph, *keep_prob, "keep_prob", dtype);
  return Value::of(subtract(graph, graph.scalar(share.dtype(), 1), share));
}

Value apply_dropout(
    Graph& graph, const Args& args, Output x, const Value& rate, const std::string& name) {
  const NameScope scope(graph, name);
  const Seed seed = seed_argument(args);
  double number = 0.5;
  if (!rate.get_if<Output>() && !rate.get_if<VariablePtr>() && !value_number(rate, &number)) {
    invalid_argument("`rate` of ", args.owner(), " must be a number, not ", rate.kind(), ".");
  }
  if (number < 0 || number >= 1) {
    invalid_argument("`rate` must be in [0, 1), not ", number, ".");
  }
  if (number == 0) return Value::of(graph.op("Identity", {x}));
  if (!is_floating(x.dtype())) {
    invalid_argument("x has to be a floating point tensor since it's going to be scaled. Got a ",
                     dtype_name(x.dtype()), " tensor instead.");
  }
  const Output share = tensor_of_value(graph, rate, "rate", x.dtype());
  const Output noise = tensor_argument_or_none(graph, args, "noise_shape", DType::kInt32);
  return Value::of(dropout(graph, x, share, seed, noise, scope.name()));
}

Value call_dropout(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x");
  return apply_dropout(graph, args, x, rate_argument(graph, args, x.dtype()),
                       args.text("name", "dropout"));
}

Value call_dropout_layer(Graph& graph, const Args& args) {
  const Output inputs = tensor_argument(graph, args, "inputs");
  const Value* rate = args.find("rate");
  const NameScope scope(graph, args.text("name", "dropout"));
  const Value* training = args.find("training");
  const Value share = rate ? *rate : Value::of(0.5);
  if (training && has_tensor(*training)) {
    const Output flag = cast(graph, tensor_of_value(graph, *training, "training"), DType::kBool);
    const Output dropped = *apply_dropout(graph, args, inputs, share, "dropout").get_if<Output>();
    return Value::of(select_by_mode(graph, flag, dropped, inputs));
  }
  if (args.flag("training", false)) return apply_dropout(graph, args, inputs, share, "dropout");
  // Marks the other arguments as read; outside of training they have no effect.
  seed_argument(args);
  args.find("noise_shape");
  return Value::of(graph.op("Identity", {inputs}));
}

Value call_batch_normalization_layer(Graph& graph, const Args& args) {
  const Output inputs = tensor_argument(graph, args, "inputs");
  args.find("renorm_momentum");  // unused: `renorm` is an error
  BatchNormOptions options;
  const std::vector<int64_t> axis = whole_numbers(args, "axis");
  if (axis.size() > 1) invalid_argument("`axis` must be one number, not ", axis.size(), ".");
  if (!axis.empty()) options.axis = axis[0];
  options.momentum = args.number("momentum", 0.99);
  options.epsilon = args.number("epsilon", 0.001);
  options.center = args.flag("center", true);
  options.scale = args.flag("scale", true);
  options.beta_initializer = initializer_argument(args, "beta_initializer");
  options.gamma_initializer = initializer_argument(args, "gamma_initializer");
  options.moving_mean_initializer = initializer_argument(args, "moving_mean_initializer");
  options.moving_variance_initializer = initializer_argument(args, "moving_variance_initializer");
  options.beta_regularizer = function_argument(args, "beta_regularizer");
  options.gamma_regularizer = function_argument(args, "gamma_regularizer");
  const Value* training = args.find("training");
  if (training && training->get_if<Output>()) {
    options.is_training = cast(graph, *training->get_if<Output>(), DType::kBool);
  } else {
    options.training = args.flag("training", false);
  }
  options.fused = args.flag("fused", true);
  options.trainable = args.flag("trainable", true);
  options.reuse = reuse_argument(args);
  return Value::of(batch_normalization_layer(graph, inputs, options, args.text("name", "")));
}

Value call_flatten(Graph& graph, const Args& args) {
  return Value::of(
      flatten(graph, tensor_argument(graph, args, "inputs"), args.text("name", "flatten")));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "layers.dense(inputs, units, activation = NULL, use_bias = TRUE, kernel_initializer = NULL, "
    "bias_initializer = NULL, kernel_regularizer = NULL, bias_regularizer = NULL, "
    "activity_regularizer = NULL, kernel_constraint = NULL, bias_constraint = NULL, trainable = "
    "TRUE, name = NULL, reuse = NULL)",
    "A fully connected layer: activation(inputs * kernel + bias).",
    call_dense);
RUNHOOKS_REGISTER_FUNCTION(
    "_fully_connected(inputs, num_outputs, activation, use_bias, kernel_initializer, "
    "bias_initializer, kernel_regularizer, bias_regularizer, trainable, scope, reuse)",
    "The fully connected layer of tf.contrib.layers.",
    call_fully_connected);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.dropout(x, keep_prob = NULL, noise_shape = NULL, seed = NULL, name = NULL, rate = NULL)",
    "Sets a random fraction of the elements to 0 and scales the others up.",
    call_dropout);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.dropout(inputs, rate = 0.5, noise_shape = NULL, seed = NULL, training = FALSE, name = "
    "NULL)",
    "A dropout layer, which is active only during training.",
    call_dropout_layer);
RUNHOOKS_REGISTER_FUNCTION(
    "layers.batch_normalization(inputs, axis = -1, momentum = 0.99, epsilon = 0.001, center = "
    "TRUE, scale = TRUE, beta_initializer = NULL, gamma_initializer = NULL, "
    "moving_mean_initializer = NULL, moving_variance_initializer = NULL, beta_regularizer = NULL, "
    "gamma_regularizer = NULL, beta_constraint = NULL, gamma_constraint = NULL, training = FALSE, "
    "trainable = TRUE, name = NULL, reuse = NULL, renorm = FALSE, renorm_clipping = NULL, "
    "renorm_momentum = 0.99, fused = NULL, virtual_batch_size = NULL, adjustment = NULL)",
    "A batch normalization layer.",
    call_batch_normalization_layer);
RUNHOOKS_REGISTER_FUNCTION("layers.flatten(inputs, name = NULL, data_format = 'channels_last')",
                           "Merges all dimensions except the first.",
                           call_flatten);

}  // namespace runhooks
