// Functions of tf that cut, repeat, fill and count, built from several ops each.
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

Value parts_of(Operation* op) {
  std::vector<Output> parts;
  for (int i = 0; i < op->num_outputs(); ++i) parts.push_back(op->output(i));
  return value_list(parts);
}

Value call_split(Graph& graph, const Args& args) {
  const Output value = tensor_argument(graph, args, "value");
  const std::string name = args.text("name", "split");
  args.find("num");  // redundant: the sizes are given
  double number;
  const Value* given = args.find("num_or_size_splits");
  const Output axis = tensor_argument(graph, args, "axis", DType::kInt32);
  if (given && value_number(*given, &number)) {
    return parts_of(graph.op("Split", {axis, value})
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
  return parts_of(graph.op("SplitV", {value, sizes, axis}).attr("num_split", n).named(name));
}

// Integer-valued numbers are int32 unless `dtype` is given.
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
  const bool from_zero = !args.has("limit");
  auto number = [&](const char* name) {
    return cast(graph, tensor_argument(graph, args, name, dtype), dtype);
  };
  const Output start = from_zero ? graph.scalar(dtype, 0, "start") : number("start");
  const Output limit = number(from_zero ? "start" : "limit");
  return Value::of(graph.op("Range", {start, limit, number("delta")}).named(scope.name()));
}

// `num` evenly spaced numbers from start to stop, both included.
Value call_linspace(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "LinSpace"));
  const Output start = tensor_argument(graph, args, "start");
  const Output stop = tensor_argument(graph, args, "stop", start.dtype());
  const Output num = tensor_argument(graph, args, "num", DType::kInt32);
  const Output places = graph.op("Range", {int_scalar(graph, 0), num, int_scalar(graph, 1)});
  const Output gaps =
      graph.op("Maximum", {subtract(graph, num, int_scalar(graph, 1)), int_scalar(graph, 1)});
  const Output step = divide(graph, subtract(graph, stop, start), cast(graph, gaps, start.dtype()));
  return Value::of(add(graph, start, multiply(graph, cast(graph, places, start.dtype()), step)));
}

Value call_eye(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "eye"));
  const DType dtype = dtype_argument(args, "dtype", DType::kFloat32);
  const Output rows = tensor_argument(graph, args, "num_rows", DType::kInt32);
  const Output columns =
      args.has("num_columns") ? tensor_argument(graph, args, "num_columns", DType::kInt32) : rows;
  auto places = [&](Output n) -> Output {
    return graph.op("Range", {int_scalar(graph, 0), n, int_scalar(graph, 1)});
  };
  const Output down = graph.op("ExpandDims", {places(rows), int_scalar(graph, 1)});
  const Output same = graph.op("Equal", {down, places(columns)});
  Output matrix = cast(graph, same, dtype);
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
  const Output longest = args.has("maxlen")
                             ? cast(graph, tensor_argument(graph, args, "maxlen", dtype), dtype)
                             : Output(graph.op("Max", {lengths, axes_of(graph, lengths)}));
  const Output places =
      graph.op("Range", {graph.scalar(dtype, 0), longest, graph.scalar(dtype, 1)});
  const Output ends = graph.op("ExpandDims", {lengths, int_scalar(graph, -1)});
  const Output mask = graph.op("Less", {places, ends});
  return Value::of(cast(graph, mask, dtype_argument(args, "dtype", DType::kBool)));
}

// Elements where the mask, aligned with the dimensions from `axis`, is TRUE.
Value call_boolean_mask(Graph& graph, const Args& args) {
  Output tensor = tensor_argument(graph, args, "tensor");
  const Output mask = tensor_argument(graph, args, "mask", DType::kBool);
  const NameScope scope(graph, args.text("name", "boolean_mask"));
  const int64_t axis = args.integer("axis", 0);
  const Shape &shape = tensor.shape(), &over = mask.shape();
  if (!over.has_rank() || !shape.has_rank()) {
    invalid_argument("Number of mask dimensions must be specified, even if some dimensions are ",
                     "None; shapes are ", shape, " and ", over, ".");
  }
  if (over.rank() == 0) invalid_argument("mask cannot be scalar.");
  const int64_t first = axis < 0 ? axis + shape.rank() : axis;
  if (first < 0 || first + over.rank() > shape.rank()) {
    invalid_argument("Shapes ", shape, " and ", over, " are incompatible.");
  }
  for (int i = 0; i < over.rank(); ++i) {
    const int64_t a = shape.dim(static_cast<int>(first) + i), b = over.dim(i);
    if (a >= 0 && b >= 0 && a != b) {
      invalid_argument("Shapes ", shape, " and ", over, " are incompatible.");
    }
  }
  auto dims = [&](int64_t from, int64_t n) -> Output {
    return graph.op("Slice",
                    {shape_of(graph, tensor), graph.int_vector({static_cast<int32_t>(from)}),
                     graph.int_vector({static_cast<int32_t>(n)})});
  };
  const Output flat_dims =
      graph.op("ConcatV2", {dims(0, first), graph.int_vector({-1}), dims(first + over.rank(), -1),
                            int_scalar(graph, 0)});
  Shape flat;
  for (int i = 0; i < first; ++i) flat.append(shape.dim(i));
  flat.append(Shape::kUnknownDim);
  for (int i = static_cast<int>(first) + over.rank(); i < shape.rank(); ++i) {
    flat.append(shape.dim(i));
  }
  if (over.rank() > 1) {
    tensor = graph.op("Reshape", {tensor, flat_dims});
    tensor.op->set_output_shape(0, flat);
  }
  const Output row = graph.op("Reshape", {mask, graph.int_vector({-1})});
  const Output places =
      graph.op("Squeeze", {graph.op("Where", {row})}).attr("squeeze_dims", std::vector<int64_t>{1});
  return Value::of(graph.op("GatherV2", {tensor, places, int_scalar(graph, first)}));
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
  const bool keep = args.flag("keepdims", false);
  const Output along = axes_of(graph, x, axes);
  const Output raw = graph.op("Max", {x, along}).attr("keep_dims", true);
  const Output is_finite = graph.op("IsFinite", {raw});
  const Output zeros = graph.op("ZerosLike", {raw});
  const Output largest = graph.op("StopGradient", {graph.op("SelectV2", {is_finite, raw, zeros})});
  const Output e = graph.op("Exp", {subtract(graph, x, largest)});
  const Output sum = graph.op("Sum", {e, along}).attr("keep_dims", keep);
  const Output shift =
      keep ? largest : Output(graph.op("Reshape", {largest, shape_of(graph, sum)}));
  return Value::of(add(graph, graph.op("Log", {sum}), shift));
}

Value call_logical_xor(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x", DType::kBool);
  const Output y = tensor_argument(graph, args, "y", DType::kBool);
  const NameScope scope(graph, args.text("name", "LogicalXor"));
  const Output both = graph.op("LogicalAnd", {x, y});
  return Value::of(
      graph.op("LogicalAnd", {graph.op("LogicalOr", {x, y}), graph.op("LogicalNot", {both})}));
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
  const Output is_there = cast(graph, graph.op("NotEqual", {x, zero}), DType::kInt64);
  const Output sum =
      sum_along(graph, is_there, whole_numbers(args, "axis"), args.flag("keepdims", false));
  return Value::of(cast(graph, sum, dtype_argument(args, "dtype", DType::kInt64)));
}

Value call_zero_fraction(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "value");
  const NameScope scope(graph, args.text("name", "zero_fraction"));
  const Output is_zero = graph.op("Equal", {x, graph.op("ZerosLike", {x})});
  const Output share = cast(graph, is_zero, DType::kFloat32);
  return Value::of(graph.op("Mean", {share, axes_of(graph, share)}));
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
  const Output along = axes_of(graph, x, axes);
  const Output mean = graph.op("Mean", {x, along}).attr("keep_dims", true);
  const Output squares = graph.op("Square", {subtract(graph, x, mean)});
  const Output variance =
      graph.op("Mean", {squares, along}).attr("keep_dims", args.flag("keepdims", false));
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

// With several partitions, row i is in partition i % n ("mod"), or partitions are contiguous
// ("div").
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
    Output place = ids;
    if (strategy == "mod") {
      const Output n = graph.scalar(ids.dtype(), static_cast<double>(parts.size()));
      std::vector<Output> sizes;
      for (const Output& part : parts) {
        const Output one = graph.int_vector({1}), first = graph.int_vector({0});
        sizes.push_back(graph.op("Slice", {shape_of(graph, part), first, one}));
      }
      sizes.push_back(zero);
      const Output begins =
          graph.op("Cumsum", {graph.op("ConcatV2", sizes), zero}).attr("exclusive", true);
      const Output begin = graph.op("GatherV2", {begins, graph.op("FloorMod", {ids, n}), zero});
      place = add(graph, cast(graph, begin, ids.dtype()), graph.op("FloorDiv", {ids, n}));
    }
    std::vector<Output> all = parts;
    all.push_back(zero);
    rows = graph.op("GatherV2", {graph.op("ConcatV2", all), place, zero});
  }
  if (!args.has("max_norm")) return Value::of(graph.op("Identity", {rows}));
  const Output largest = graph.scalar(rows.dtype(), args.number("max_norm"));
  const Output squares =
      graph.op("Sum", {graph.op("Square", {rows}), graph.int_vector({-1})}).attr("keep_dims", true);
  const Output norm = graph.op("Sqrt", {squares});
  return Value::of(
      divide(graph, multiply(graph, rows, largest), graph.op("Maximum", {norm, largest})));
}

Value call_trace(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x");
  const NameScope scope(graph, args.text("name", "Trace"));
  return Value::of(sum_along(graph, graph.op("MatrixDiagPart", {x}), {-1}));
}

}  // namespace

RUNHOOKS_REGISTER_FUNCTION("split(value, num_or_size_splits, axis = 0, num = NULL, name = 'split')",
                           "Parts of a tensor along a dimension, a list.",
                           call_split);
RUNHOOKS_REGISTER_FUNCTION(
    "range, python.ops.math_ops.range(start, limit = NULL, delta = 1, dtype = NULL, name = "
    "'range')",
    "Numbers from start to below limit.",
    call_range);
RUNHOOKS_REGISTER_FUNCTION(
    "linspace, lin_space, python.ops.math_ops.linspace(start, stop, num, name = NULL)",
    "Numbers at equal distances, start and stop among them.",
    call_linspace);
RUNHOOKS_REGISTER_FUNCTION(
    "eye, linalg.eye(num_rows, num_columns = NULL, batch_shape = NULL, dtype = 'float32', name = "
    "NULL)",
    "A matrix of 1 on the diagonal.",
    call_eye);
RUNHOOKS_REGISTER_FUNCTION("sequence_mask(lengths, maxlen = NULL, dtype = 'bool', name = NULL)",
                           "For each length a row whose first elements are TRUE.",
                           call_sequence_mask);
RUNHOOKS_REGISTER_FUNCTION("boolean_mask(tensor, mask, name = 'boolean_mask', axis = NULL)",
                           "The elements where a mask holds.",
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
                           "Whether one of both holds.",
                           call_logical_xor);
RUNHOOKS_REGISTER_FUNCTION("scalar_mul, math.scalar_mul(scalar, x, name = NULL)",
                           "A number times a tensor.",
                           call_scalar_mul);
RUNHOOKS_REGISTER_FUNCTION(
    "count_nonzero, math.count_nonzero(input_tensor = NULL, axis = NULL, keepdims = NULL, dtype = "
    "'int64', name = NULL, reduction_indices as axis = NULL, keep_dims as keepdims = NULL, input "
    "= NULL)",
    "How many elements are not 0.",
    call_count_nonzero);
RUNHOOKS_REGISTER_FUNCTION("nn.zero_fraction(value, name = NULL)",
                           "The share of elements that are 0.",
                           call_zero_fraction);
RUNHOOKS_REGISTER_FUNCTION("nn.xw_plus_b(x, weights, biases, name = NULL)",
                           "The product of two matrices, and a vector.",
                           call_xw_plus_b<false>);
RUNHOOKS_REGISTER_FUNCTION("nn.relu_layer(x, weights, biases, name = NULL)",
                           "The same behind relu.",
                           call_xw_plus_b<true>);
RUNHOOKS_REGISTER_FUNCTION(
    "math.reduce_variance(input_tensor, axis = NULL, keepdims = FALSE, name = NULL)",
    "The variance of elements.",
    [](Graph& graph, const Args& args) { return call_reduce_variance(graph, args, false); });
RUNHOOKS_REGISTER_FUNCTION(
    "math.reduce_std(input_tensor, axis = NULL, keepdims = FALSE, name = NULL)",
    "The standard deviation of elements.",
    [](Graph& graph, const Args& args) { return call_reduce_variance(graph, args, true); });
RUNHOOKS_REGISTER_FUNCTION(
    "matrix_transpose, linalg.transpose(a, name = 'matrix_transpose', conjugate = FALSE)",
    "The last two dimensions exchanged.",
    call_matrix_transpose);
RUNHOOKS_REGISTER_FUNCTION(
    "nn.embedding_lookup(params, ids, partition_strategy = 'mod', name = NULL, validate_indices = "
    "TRUE, max_norm = NULL)",
    "The rows of a table, or of its parts.",
    call_embedding_lookup);
RUNHOOKS_REGISTER_FUNCTION("trace, linalg.trace(x, name = NULL)",
                           "The sum of the diagonal.",
                           call_trace);

}  // namespace runhooks
