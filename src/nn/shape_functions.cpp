// Functions of tf that split, create, mask and count tensors. Each adds several ops.
#include <algorithm>

#include "graph/graph_function.h"
#include "graph/variable.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output int_scalar(Graph& g, int64_t x, const std::string& name = "Const") {
  return g.scalar(DType::kInt32, static_cast<double>(x), name);
}

Value outputs_as_list(Operation* op) {
  std::vector<Output> parts;
  for (int i = 0; i < op->num_outputs(); ++i) parts.push_back(op->output(i));
  return value_list(parts);
}

Value call_split(Graph& graph, const Args& args) {
  const Output value = tensor_argument(graph, args, "value");
  const std::string name = args.text("name", "split");
  args.find("num");  // ignored: the sizes determine the number of outputs
  double number;
  const Value* num_or_sizes = args.find("num_or_size_splits");
  const Output axis = tensor_argument(graph, args, "axis", DType::kInt32);
  if (num_or_sizes && value_number(*num_or_sizes, &number)) {
    return outputs_as_list(graph.op("Split", {axis, value})
                               .attr("num_split", args.integer("num_or_size_splits"))
                               .named(name));
  }
  const Output sizes = tensor_argument(graph, args, "num_or_size_splits", DType::kInt32);
  const int64_t n =
      sizes.shape().has_rank() && sizes.shape().rank() == 1 ? sizes.shape().dim(0) : -1;
  if (n < 1)
    invalid_argument(
        "`num_or_size_splits` must be a number, or a vector of sizes of "
        "known length.");
  return outputs_as_list(graph.op("SplitV", {value, sizes, axis}).attr("num_split", n).named(name));
}

// Returns the default type of tf.range(): the type of a tensor argument, else int32 if all numbers
// are whole, else float32.
DType range_type(const Args& args, const std::vector<std::string>& names) {
  DType dtype = DType::kInt32;
  for (const std::string& name : names) {
    const Value* value = args.find(name);
    if (!value) continue;
    if (const auto* tensor = value->get_if<Output>()) return tensor->dtype();
    if (const auto* variable = value->get_if<VariablePtr>()) return (*variable)->dtype;
    double x = 0;
    if (value_number(*value, &x) && x != static_cast<double>(static_cast<int64_t>(x))) {
      dtype = DType::kFloat32;
    }
  }
  return dtype;
}

Value call_range(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "range"));
  const DType dtype = dtype_argument(args, "dtype", range_type(args, {"start", "limit", "delta"}));
  const bool starts_at_zero = !args.has("limit");
  auto number = [&](const char* name) {
    return cast(graph, tensor_argument(graph, args, name, dtype), dtype);
  };
  const Output start = starts_at_zero ? graph.scalar(dtype, 0, "start") : number("start");
  const Output limit = number(starts_at_zero ? "start" : "limit");
  return Value::of(graph.op("Range", {start, limit, number("delta")}).named(scope.name()));
}

Value call_linspace(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "LinSpace"));
  const Output start = tensor_argument(graph, args, "start");
  const Output stop = tensor_argument(graph, args, "stop", start.dtype());
  const Output num = tensor_argument(graph, args, "num", DType::kInt32);
  const Output indices = graph.op("Range", {int_scalar(graph, 0), num, int_scalar(graph, 1)});
  const Output num_steps =
      graph.op("Maximum", {subtract(graph, num, int_scalar(graph, 1)), int_scalar(graph, 1)});
  const Output step =
      divide(graph, subtract(graph, stop, start), cast(graph, num_steps, start.dtype()));
  return Value::of(add(graph, start, multiply(graph, cast(graph, indices, start.dtype()), step)));
}

Value call_eye(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "eye"));
  const DType dtype = dtype_argument(args, "dtype", DType::kFloat32);
  const Output rows = tensor_argument(graph, args, "num_rows", DType::kInt32);
  const Output columns =
      args.has("num_columns") ? tensor_argument(graph, args, "num_columns", DType::kInt32) : rows;
  auto indices = [&](Output n) -> Output {
    return graph.op("Range", {int_scalar(graph, 0), n, int_scalar(graph, 1)});
  };
  const Output row_indices = graph.op("ExpandDims", {indices(rows), int_scalar(graph, 1)});
  const Output is_diagonal = graph.op("Equal", {row_indices, indices(columns)});
  Output matrix = cast(graph, is_diagonal, dtype);
  if (args.has("batch_shape")) {
    const Output batch = tensor_argument(graph, args, "batch_shape", DType::kInt32);
    const Output dims =
        graph.op("ConcatV2", {batch, shape_of(graph, matrix), int_scalar(graph, 0)});
    matrix = graph.op("BroadcastTo", {matrix, dims});
  }
  return Value::of(matrix);
}

Value call_sequence_mask(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "SequenceMask"));
  const Output lengths = tensor_argument(graph, args, "lengths", DType::kInt32);
  const DType dtype = lengths.dtype();
  const Output max_length = args.has("maxlen")
                                ? cast(graph, tensor_argument(graph, args, "maxlen", dtype), dtype)
                                : Output(graph.op("Max", {lengths, axes_of(graph, lengths)}));
  const Output indices =
      graph.op("Range", {graph.scalar(dtype, 0), max_length, graph.scalar(dtype, 1)});
  const Output ends = graph.op("ExpandDims", {lengths, int_scalar(graph, -1)});
  const Output mask = graph.op("Less", {indices, ends});
  return Value::of(cast(graph, mask, dtype_argument(args, "dtype", DType::kBool)));
}

// Selects elements by a mask, which applies to the dimensions from `axis` on.
Value call_boolean_mask(Graph& graph, const Args& args) {
  Output tensor = tensor_argument(graph, args, "tensor");
  const Output mask = tensor_argument(graph, args, "mask", DType::kBool);
  const NameScope scope(graph, args.text("name", "boolean_mask"));
  const int64_t axis = args.integer("axis", 0);
  const Shape &shape = tensor.shape(), &mask_shape = mask.shape();
  if (!mask_shape.has_rank() || !shape.has_rank()) {
    invalid_argument("Number of mask dimensions must be specified, even if some dimensions are ",
                     "None; shapes are ", shape, " and ", mask_shape, ".");
  }
  if (mask_shape.rank() == 0) invalid_argument("mask cannot be scalar.");
  const int64_t first_axis = axis < 0 ? axis + shape.rank() : axis;
  if (first_axis < 0 || first_axis + mask_shape.rank() > shape.rank()) {
    invalid_argument("Shapes ", shape, " and ", mask_shape, " are incompatible.");
  }
  for (int i = 0; i < mask_shape.rank(); ++i) {
    const int64_t a = shape.dim(static_cast<int>(first_axis) + i), b = mask_shape.dim(i);
    if (a >= 0 && b >= 0 && a != b) {
      invalid_argument("Shapes ", shape, " and ", mask_shape, " are incompatible.");
    }
  }
  auto dims = [&](int64_t start, int64_t n) -> Output {
    return graph.op("Slice",
                    {shape_of(graph, tensor), graph.int_vector({static_cast<int32_t>(start)}),
                     graph.int_vector({static_cast<int32_t>(n)})});
  };
  const Output flat_dims =
      graph.op("ConcatV2", {dims(0, first_axis), graph.int_vector({-1}),
                            dims(first_axis + mask_shape.rank(), -1), int_scalar(graph, 0)});
  Shape flat;
  for (int i = 0; i < first_axis; ++i) flat.append(shape.dim(i));
  flat.append(Shape::kUnknownDim);
  for (int i = static_cast<int>(first_axis) + mask_shape.rank(); i < shape.rank(); ++i) {
    flat.append(shape.dim(i));
  }
  if (mask_shape.rank() > 1) {
    tensor = graph.op("Reshape", {tensor, flat_dims});
    tensor.op->set_output_shape(0, flat);
  }
  const Output row = graph.op("Reshape", {mask, graph.int_vector({-1})});
  const Output indices =
      graph.op("Squeeze", {graph.op("Where", {row})}).attr("squeeze_dims", std::vector<int64_t>{1});
  return Value::of(graph.op("GatherV2", {tensor, indices, int_scalar(graph, first_axis)}));
}

template <DType kType>
Value call_cast_to(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x");
  const NameScope scope(graph, args.text("name", "Cast"));
  return Value::of(cast(graph, x, kType));
}

Value call_reduce_logsumexp(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "input_tensor");
  const NameScope scope(graph, args.text("name", "ReduceLogSumExp"));
  std::vector<int64_t> axes = whole_numbers(args, "axis");
  const bool keep_dims = args.flag("keepdims", false);
  const Output axes_tensor = axes_of(graph, x, axes);
  const Output max_value = graph.op("Max", {x, axes_tensor}).attr("keep_dims", true);
  const Output is_finite = graph.op("IsFinite", {max_value});
  const Output zeros = graph.op("ZerosLike", {max_value});
  const Output finite_max =
      graph.op("StopGradient", {graph.op("SelectV2", {is_finite, max_value, zeros})});
  const Output e = graph.op("Exp", {subtract(graph, x, finite_max)});
  const Output sum = graph.op("Sum", {e, axes_tensor}).attr("keep_dims", keep_dims);
  const Output shift =
      keep_dims ? finite_max : Output(graph.op("Reshape", {finite_max, shape_of(graph, sum)}));
  return Value::of(add(graph, graph.op("Log", {sum}), shift));
}

Value call_logical_xor(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x", DType::kBool);
  const Output y = tensor_argument(graph, args, "y", DType::kBool);
  const NameScope scope(graph, args.text("name", "LogicalXor"));
  const Output both_true = graph.op("LogicalAnd", {x, y});
  return Value::of(
      graph.op("LogicalAnd", {graph.op("LogicalOr", {x, y}), graph.op("LogicalNot", {both_true})}));
}

Value call_scalar_mul(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x");
  const Output scalar = tensor_argument(graph, args, "scalar", x.dtype());
  if (scalar.shape().has_rank() && scalar.shape().rank() > 0) {
    invalid_argument("Only scalar multiply works, got shape ", scalar.shape(), ".");
  }
  return Value::of(graph.op("Mul", {scalar, x}).named(args.text("name", "Mul")));
}

Value call_count_nonzero(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, args.has("input") ? "input" : "input_tensor");
  const NameScope scope(graph, args.text("name", "count_nonzero"));
  const Output zero = graph.op("ZerosLike", {x});
  const Output is_nonzero = cast(graph, graph.op("NotEqual", {x, zero}), DType::kInt64);
  const Output sum =
      sum_along(graph, is_nonzero, whole_numbers(args, "axis"), args.flag("keepdims", false));
  return Value::of(cast(graph, sum, dtype_argument(args, "dtype", DType::kInt64)));
}

Value call_zero_fraction(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "value");
  const NameScope scope(graph, args.text("name", "zero_fraction"));
  const Output is_zero = graph.op("Equal", {x, graph.op("ZerosLike", {x})});
  const Output zeros_as_float = cast(graph, is_zero, DType::kFloat32);
  return Value::of(graph.op("Mean", {zeros_as_float, axes_of(graph, zeros_as_float)}));
}

template <bool kRelu>
Value call_xw_plus_b(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", kRelu ? "relu_layer" : "xw_plus_b"));
  const Output x = tensor_argument(graph, args, "x");
  const Output weights = tensor_argument(graph, args, "weights", x.dtype());
  const Output biases = tensor_argument(graph, args, "biases", x.dtype());
  const Output sum = graph.op("BiasAdd", {graph.op("MatMul", {x, weights}), biases});
  return Value::of(kRelu ? Output(graph.op("Relu", {sum})) : sum);
}

Value call_reduce_variance(Graph& graph, const Args& args, bool is_root) {
  const Output x = tensor_argument(graph, args, "input_tensor");
  const NameScope scope(graph, args.text("name", is_root ? "reduce_std" : "reduce_variance"));
  const std::vector<int64_t> axes = whole_numbers(args, "axis");
  const Output axes_tensor = axes_of(graph, x, axes);
  const Output mean = graph.op("Mean", {x, axes_tensor}).attr("keep_dims", true);
  const Output squares = graph.op("Square", {subtract(graph, x, mean)});
  const Output variance =
      graph.op("Mean", {squares, axes_tensor}).attr("keep_dims", args.flag("keepdims", false));
  return Value::of(is_root ? Output(graph.op("Sqrt", {variance})) : variance);
}

Value call_matrix_transpose(Graph& graph, const Args& args) {
  const Output a = tensor_argument(graph, args, "a");
  const int rank = a.shape().has_rank() ? a.shape().rank() : -1;
  if (rank < 2) {
    invalid_argument("Argument 'a' should be a (batch) matrix, with rank >= 2. Found: ", a.shape());
  }
  const NameScope scope(graph, args.text("name", "matrix_transpose"));
  std::vector<int32_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[static_cast<size_t>(rank) - 1], perm[static_cast<size_t>(rank) - 2]);
  return Value::of(graph.op("Transpose", {a, graph.int_vector(perm)}));
}

// The table `params` may have n partitions. Row i is in partition i % n (strategy "mod"), or each
// partition contains contiguous rows ("div").
Value call_embedding_lookup(Graph& graph, const Args& args) {
  const ValueList params = values_argument(args, "params");
  const std::string strategy = args.text("partition_strategy", "mod");
  args.flag("validate_indices", true);
  if (strategy != "mod" && strategy != "div") {
    invalid_argument("Unrecognized partition strategy: ", strategy, ".");
  }
  if (params.empty()) invalid_argument("Need at least one param.");
  const NameScope scope(graph, args.text("name", "embedding_lookup"));
  std::vector<Output> parts;
  for (const Value& part : params) parts.push_back(tensor_of_value(graph, part, "params"));
  const Output ids = tensor_argument(graph, args, "ids", DType::kInt32);
  const Output zero = graph.scalar(DType::kInt32, 0, "axis");
  Output rows;
  if (parts.size() == 1) {
    rows = graph.op("GatherV2", {parts[0], ids, zero});
  } else {
    Output row_ids = ids;
    if (strategy == "mod") {
      const Output n = graph.scalar(ids.dtype(), static_cast<double>(parts.size()));
      std::vector<Output> sizes;
      for (const Output& part : parts) {
        const Output one = graph.int_vector({1}), zeros = graph.int_vector({0});
        sizes.push_back(graph.op("Slice", {shape_of(graph, part), zeros, one}));
      }
      sizes.push_back(zero);
      const Output partition_starts =
          graph.op("Cumsum", {graph.op("ConcatV2", sizes), zero}).attr("exclusive", true);
      const Output partition_start =
          graph.op("GatherV2", {partition_starts, graph.op("FloorMod", {ids, n}), zero});
      row_ids =
          add(graph, cast(graph, partition_start, ids.dtype()), graph.op("FloorDiv", {ids, n}));
    }
    std::vector<Output> concat_inputs = parts;
    concat_inputs.push_back(zero);
    rows = graph.op("GatherV2", {graph.op("ConcatV2", concat_inputs), row_ids, zero});
  }
  if (!args.has("max_norm")) return Value::of(graph.op("Identity", {rows}));
  const Output max_norm = graph.scalar(rows.dtype(), args.number("max_norm"));
  const Output squares =
      graph.op("Sum", {graph.op("Square", {rows}), graph.int_vector({-1})}).attr("keep_dims", true);
  const Output norm = graph.op("Sqrt", {squares});
  return Value::of(
      divide(graph, multiply(graph, rows, max_norm), graph.op("Maximum", {norm, max_norm})));
}

Value call_trace(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x");
  const NameScope scope(graph, args.text("name", "Trace"));
  return Value::of(sum_along(graph, graph.op("MatrixDiagPart", {x}), {-1}));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION("split(value, num_or_size_splits, axis = 0, num = NULL, name = 'split')",
                           "Splits a tensor along an axis into a list of tensors.",
                           call_split);
RUNHOOKS_REGISTER_FUNCTION(
    "range, python.ops.math_ops.range(start, limit = NULL, delta = 1, dtype = NULL, name = "
    "'range')",
    "Numbers from start up to, but not including, limit.",
    call_range);
RUNHOOKS_REGISTER_FUNCTION(
    "linspace, lin_space, python.ops.math_ops.linspace(start, stop, num, name = NULL)",
    "Evenly spaced numbers from start to stop.",
    call_linspace);
RUNHOOKS_REGISTER_FUNCTION(
    "eye, linalg.eye(num_rows, num_columns = NULL, batch_shape = NULL, dtype = 'float32', name = "
    "NULL)",
    "An identity matrix, or a batch of identity matrices.",
    call_eye);
RUNHOOKS_REGISTER_FUNCTION("sequence_mask(lengths, maxlen = NULL, dtype = 'bool', name = NULL)",
                           "One row per length n; its first n elements are TRUE.",
                           call_sequence_mask);
RUNHOOKS_REGISTER_FUNCTION("boolean_mask(tensor, mask, name = 'boolean_mask', axis = NULL)",
                           "The elements where a mask is TRUE.",
                           call_boolean_mask);
RUNHOOKS_REGISTER_FUNCTION("to_float(x, name = 'ToFloat')",
                           "x as float32.",
                           call_cast_to<DType::kFloat32>);
RUNHOOKS_REGISTER_FUNCTION("to_double(x, name = 'ToDouble')",
                           "x as float64.",
                           call_cast_to<DType::kFloat64>);
RUNHOOKS_REGISTER_FUNCTION("to_int32(x, name = 'ToInt32')",
                           "x as int32.",
                           call_cast_to<DType::kInt32>);
RUNHOOKS_REGISTER_FUNCTION("to_int64(x, name = 'ToInt64')",
                           "x as int64.",
                           call_cast_to<DType::kInt64>);
RUNHOOKS_REGISTER_FUNCTION(
    "reduce_logsumexp, math.reduce_logsumexp(input_tensor, axis = NULL, keepdims = NULL, name = "
    "NULL, reduction_indices as axis = NULL, keep_dims as keepdims = NULL)",
    "The logarithm of the sum of exponentials.",
    call_reduce_logsumexp);
RUNHOOKS_REGISTER_FUNCTION("logical_xor, math.logical_xor(x, y, name = 'LogicalXor')",
                           "Whether exactly one of x and y is TRUE.",
                           call_logical_xor);
RUNHOOKS_REGISTER_FUNCTION("scalar_mul, math.scalar_mul(scalar, x, name = NULL)",
                           "A number times a tensor.",
                           call_scalar_mul);
RUNHOOKS_REGISTER_FUNCTION(
    "count_nonzero, math.count_nonzero(input_tensor = NULL, axis = NULL, keepdims = NULL, dtype = "
    "'int64', name = NULL, reduction_indices as axis = NULL, keep_dims as keepdims = NULL, input "
    "= NULL)",
    "The number of nonzero elements.",
    call_count_nonzero);
RUNHOOKS_REGISTER_FUNCTION("nn.zero_fraction(value, name = NULL)",
                           "The fraction of elements that are 0.",
                           call_zero_fraction);
RUNHOOKS_REGISTER_FUNCTION("nn.xw_plus_b(x, weights, biases, name = NULL)",
                           "matmul(x, weights) + biases.",
                           call_xw_plus_b<false>);
RUNHOOKS_REGISTER_FUNCTION("nn.relu_layer(x, weights, biases, name = NULL)",
                           "relu(matmul(x, weights) + biases).",
                           call_xw_plus_b<true>);
RUNHOOKS_REGISTER_FUNCTION(
    "math.reduce_variance(input_tensor, axis = NULL, keepdims = FALSE, name = NULL)",
    "The variance along axes.",
    [](Graph& graph, const Args& args) { return call_reduce_variance(graph, args, false); });
RUNHOOKS_REGISTER_FUNCTION(
    "math.reduce_std(input_tensor, axis = NULL, keepdims = FALSE, name = NULL)",
    "The standard deviation along axes.",
    [](Graph& graph, const Args& args) { return call_reduce_variance(graph, args, true); });
RUNHOOKS_REGISTER_FUNCTION(
    "matrix_transpose, linalg.transpose(a, name = 'matrix_transpose', conjugate = FALSE)",
    "Transposes the last two dimensions.",
    call_matrix_transpose);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.embedding_lookup(params, ids, partition_strategy = 'mod', name = NULL, validate_indices = "
    "TRUE, max_norm = NULL)",
    "Looks up rows of an embedding table, which may be partitioned.",
    call_embedding_lookup);
RUNHOOKS_REGISTER_FUNCTION("trace, linalg.trace(x, name = NULL)",
                           "The sum of the diagonal of each matrix.",
                           call_trace);

}  // namespace runhooks
