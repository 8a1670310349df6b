// Functions of tf that choose the op by the shapes and types of their arguments.
#include "graph/graph_function.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

bool is_graph_tensor(const Value* value) {
  return value && (value->get_if<Output>() || value->get_if<std::shared_ptr<Variable>>());
}

// Converts the arguments `first` and `second` to tensors of one type; a number takes the type of
// the tensor operand.
std::pair<Output, Output> operands_of_one_type(Graph& graph,
                                               const Args& args,
                                               const std::string& first,
                                               const std::string& second) {
  if (is_graph_tensor(args.find(second)) && !is_graph_tensor(args.find(first))) {
    const Output b = tensor_argument(graph, args, second);
    return {tensor_argument(graph, args, first, b.dtype()), b};
  }
  const Output a = tensor_argument(graph, args, first);
  return {a, tensor_argument(graph, args, second, a.dtype())};
}

bool may_have_batch(Output x) { return !x.shape().has_rank() || x.shape().rank() > 2; }

// Reads whether an operand is transposed. Transpose and adjoint are the same for real numbers.
bool is_transposed(const Args& args, const std::string& operand) {
  const bool transpose = args.flag("transpose_" + operand, false);
  const bool adjoint = args.flag("adjoint_" + operand, false);
  if (transpose && adjoint) {
    invalid_argument("Only one of `transpose_", operand, "` and `adjoint_", operand,
                     "` can be TRUE.");
  }
  return transpose || adjoint;
}

Value call_matmul(Graph& graph, const Args& args) {
  const auto [a, b] = operands_of_one_type(graph, args, "a", "b");
  const bool transpose_a = is_transposed(args, "a"), transpose_b = is_transposed(args, "b");
  // Marks two arguments as read. With them, TensorFlow selects sparse kernels, which give the same
  // result.
  args.flag("a_is_sparse", false);
  args.flag("b_is_sparse", false);
  const std::string name = args.text("name", "MatMul");
  if (may_have_batch(a) || may_have_batch(b)) {
    return Value::of(graph.op("BatchMatMulV2", {a, b})
                         .attr("adj_x", transpose_a)
                         .attr("adj_y", transpose_b)
                         .named(name));
  }
  return Value::of(graph.op("MatMul", {a, b})
                       .attr("transpose_a", transpose_a)
                       .attr("transpose_b", transpose_b)
                       .named(name));
}

Value call_where(Graph& graph, const Args& args) {
  const Output condition = tensor_argument(graph, args, "condition");
  if (!args.has("x") && !args.has("y")) {
    return Value::of(graph.op("Where", {condition}).named(args.text("name", "Where")));
  }
  if (!args.has("x") || !args.has("y")) {
    invalid_argument("`x` and `y` of ", args.owner(), " must both be given, or neither.");
  }
  const auto [x, y] = operands_of_one_type(graph, args, "x", "y");
  return Value::of(graph.op("Select", {condition, x, y}).named(args.text("name", "Select")));
}

// Returns the type to which tf.truediv() converts its operands.
DType quotient_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kFloat64:
      return dtype;
    case DType::kInt8:
    case DType::kUint8:
    case DType::kInt16:
      return DType::kFloat32;
    case DType::kInt32:
    case DType::kInt64:
      return DType::kFloat64;
    default:
      invalid_argument("Invalid dtype ", dtype_name(dtype), " of a division.");
  }
}

Value call_truediv(Graph& graph, const Args& args) {
  const NameScope scope(graph, args.text("name", "truediv"));
  const auto [x, y] = operands_of_one_type(graph, args, "x", "y");
  if (x.dtype() != y.dtype()) {
    invalid_argument("x and y of a division must have one type, got ", dtype_name(x.dtype()),
                     " and ", dtype_name(y.dtype()), ".");
  }
  const DType dtype = quotient_type(x.dtype());
  return Value::of(
      graph.op("RealDiv", {cast(graph, x, dtype), cast(graph, y, dtype)}).named(scope.name()));
}

// Splits a tensor along an axis. The argument `num` defaults to the size of the axis.
Value call_unstack(Graph& graph, const Args& args) {
  const Output value = tensor_argument(graph, args, "value");
  const int64_t axis = args.integer("axis", 0);
  int64_t num = args.integer("num", -1);
  if (!args.has("num")) {
    const Shape& shape = value.shape();
    if (!shape.has_rank()) {
      invalid_argument("Cannot infer `num` of ", args.owner(), " from unknown shape ", shape, ".");
    }
    const int64_t nonnegative_axis = axis < 0 ? axis + shape.rank() : axis;
    if (nonnegative_axis < 0 || nonnegative_axis >= shape.rank()) {
      invalid_argument("`axis` = ", axis, " not in [", -shape.rank(), ", ", shape.rank(), ").");
    }
    num = shape.dim(static_cast<int>(nonnegative_axis));
    if (num < 0) {
      invalid_argument("Cannot infer `num` of ", args.owner(), " from shape ", shape, ".");
    }
  }
  Operation* op = graph.op("Unpack", {value})
                      .attr("num", num)
                      .attr("axis", axis)
                      .named(args.text("name", "unstack"));
  std::vector<Output> parts;
  for (int i = 0; i < op->num_outputs(); ++i) parts.push_back(op->output(i));
  return value_list(parts);
}

Value call_transpose(Graph& graph, const Args& args) {
  const Output a = tensor_argument(graph, args, "a");
  const NameScope scope(graph, args.text("name", "transpose"));
  Output perm = tensor_argument_or_none(graph, args, "perm", DType::kInt32);
  if (!perm) {
    const Output one = graph.scalar(DType::kInt32, 1, "sub/y");
    const Output last = subtract(graph, graph.op("Rank", {a}), one);
    const Output indices =
        graph.op("Range", {graph.scalar(DType::kInt32, 0, "Range/start"), graph.op("Rank", {a}),
                           graph.scalar(DType::kInt32, 1, "Range/delta")});
    perm = subtract(graph, last, indices);
    Output result = graph.op("Transpose", {a, perm}).named(scope.name());
    if (a.shape().has_rank()) {
      Shape shape;
      for (int i = a.shape().rank(); i-- > 0;) shape.append(a.shape().dim(i));
      result.op->set_output_shape(0, shape);
    }
    return Value::of(result);
  }
  return Value::of(graph.op("Transpose", {a, perm}).named(scope.name()));
}

template <const char* const& kType>
Value call_scan(Graph& graph, const Args& args) {
  const Output x = tensor_argument(graph, args, "x");
  return Value::of(graph.op(kType, {x, tensor_argument(graph, args, "axis", DType::kInt32)})
                       .attr("exclusive", args.flag("exclusive", false))
                       .attr("reverse", args.flag("reverse", false))
                       .named(args.text("name", kType)));
}

constexpr const char* kCumsum = "Cumsum";
constexpr const char* kCumprod = "Cumprod";

}  // namespace

RUNHOOKS_REGISTER_FUNCTION(
    "matmul, linalg.matmul(a, b, transpose_a = FALSE, transpose_b = FALSE, adjoint_a = FALSE, "
    "adjoint_b = FALSE, a_is_sparse = FALSE, b_is_sparse = FALSE, name = NULL)",
    "Multiplies matrices, which are the last two dimensions of a and b.",
    call_matmul);
RUNHOOKS_REGISTER_FUNCTION(
    "where(condition, x = NULL, y = NULL, name = NULL)",
    "Elements of x where the condition is TRUE, else of y; without x and y, indices of TRUE.",
    call_where);
RUNHOOKS_REGISTER_FUNCTION("truediv, math.truediv, divide, math.divide(x, y, name = NULL)",
                           "x / y; integers are converted to floating-point numbers.",
                           call_truediv);
RUNHOOKS_REGISTER_FUNCTION(
    "unstack(value, num = NULL, axis = 0, name = 'unstack')",
    "Splits a tensor along an axis into a list of tensors without this axis.",
    call_unstack);
RUNHOOKS_REGISTER_FUNCTION("transpose(a, perm = NULL, name = 'transpose', conjugate = FALSE)",
                           "Permutes the axes of a tensor.",
                           call_transpose);
RUNHOOKS_REGISTER_FUNCTION(
    "cumsum, math.cumsum(x, axis = 0, exclusive = FALSE, reverse = FALSE, name = NULL)",
    "The cumulative sum along an axis.",
    call_scan<kCumsum>);
RUNHOOKS_REGISTER_FUNCTION(
    "cumprod, math.cumprod(x, axis = 0, exclusive = FALSE, reverse = FALSE, name = NULL)",
    "The cumulative product along an axis.",
    call_scan<kCumprod>);

}  // namespace runhooks
