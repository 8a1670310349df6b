// Functions of tf and tf.math that need several ops, or that accept arguments which an op does not
// (missing axes, numbers as operands).
#include "graph/graph_function.h"
#include "graph/variable.h"
#include "nn/nn_functions.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Value call_reduction(Graph& g, const Args& args, const char* type) {
  const Output x = tensor_argument(g, args, "input_tensor");
  const Value* axis_argument = args.find("axis");
  Output axes;
  if (!axis_argument) {
    axes = axes_of(g, x);
  } else if (axis_argument->get_if<Output>()) {
    axes = *axis_argument->get_if<Output>();
  } else {
    const std::vector<int64_t> numbers = whole_numbers(args, "axis");
    axes = g.int_vector(std::vector<int32_t>(numbers.begin(), numbers.end()));
  }
  return Value::of(g.op(type, {x, axes})
                       .attr("keep_dims", args.flag("keepdims", false))
                       .named(args.text("name", type)));
}
Value call_extremum(Graph& g, const Args& args, const char* type) {
  const Output input = tensor_argument(g, args, "input");
  const Value* axis_argument = args.find("axis");
  const Output axis = axis_argument ? tensor_of_value(g, *axis_argument, "dimension", DType::kInt32)
                                    : g.scalar(DType::kInt32, 0, "dimension");
  return Value::of(g.op(type, {input, axis})
                       .attr("output_type", dtype_argument(args, "output_type", DType::kInt64))
                       .named(args.text("name", type)));
}
Value argmax(Graph& g, const Args& args) { return call_extremum(g, args, "ArgMax"); }
Value argmin(Graph& g, const Args& args) { return call_extremum(g, args, "ArgMin"); }

Value gather(Graph& g, const Args& args) {
  const Output params = tensor_argument(g, args, "params");
  const Output indices = tensor_argument(g, args, "indices", DType::kInt32);
  args.flag("validate_indices", true);  // the CPU kernel always validates
  const int64_t batch_dims = args.integer("batch_dims", 0);
  const Value* axis = args.find("axis");
  const Output gather_axis = axis
                                 ? tensor_of_value(g, *axis, "axis", DType::kInt32)
                                 : g.scalar(DType::kInt32, static_cast<double>(batch_dims), "axis");
  return Value::of(g.op("GatherV2", {params, indices, gather_axis})
                       .attr("batch_dims", batch_dims)
                       .named(args.text("name", "GatherV2")));
}

Value clip_by_value(Graph& g, const Args& args) {
  const Gradient t = gradient_argument(g, args, "t");
  const Output max_value = tensor_argument(g, args, "clip_value_max", t.values.dtype());
  const Output min_value = tensor_argument(g, args, "clip_value_min", t.values.dtype());
  return gradient_value(transform_values(t, [&](const Output& values) -> Output {
    const Output bounded = g.op("Minimum", {values, max_value});
    return g.op("Maximum", {bounded, min_value}).named(args.text("name", "Maximum"));
  }));
}

// Returns a tensor whose elements are all x, or all "" if the type is string.
Tensor filled(DType dtype, const Shape& shape, double x) {
  return filled_tensor(dtype, shape, dtype == DType::kString ? 0 : x);
}

Value constants(Graph& g, const Args& args, double x, const char* name) {
  const DType dtype = dtype_argument(args, "dtype", DType::kFloat32);
  const std::string op_name = args.text("name", name);
  const Value* shape = args.find("shape");
  if (shape && has_tensor(*shape)) {
    const Output dims = tensor_of_value(g, *shape, "shape", DType::kInt32);
    const Output value = g.constant(filled(dtype, Shape(), x));
    Output result = g.op("Fill", {dims, value}).named(op_name);
    if (const Shape static_shape = known_shape(*shape); static_shape.has_rank()) {
      result.op->set_output_shape(0, static_shape);
    }
    return Value::of(result);
  }
  return Value::of(g.constant(filled(dtype, Shape(whole_numbers(args, "shape")), x), op_name));
}
Value zeros(Graph& g, const Args& args) { return constants(g, args, 0, "zeros"); }
Value ones(Graph& g, const Args& args) { return constants(g, args, 1, "ones"); }

Value constants_like(Graph& g, const Args& args, double x, const char* name) {
  const Output tensor = tensor_argument(g, args, "tensor");
  const DType dtype = dtype_argument(args, "dtype", tensor.dtype());
  args.flag("optimize", true);  // ignored: a hint for TensorFlow's graph construction
  const std::string op_name = args.text("name", name);
  if (x == 0 && dtype == tensor.dtype() && dtype != DType::kString) {
    return Value::of(g.op("ZerosLike", {tensor}).named(op_name));
  }
  const Output value = g.constant(filled(dtype, Shape(), x));
  return Value::of(g.op("Fill", {shape_of(g, tensor), value}).named(op_name));
}
Value zeros_like(Graph& g, const Args& args) { return constants_like(g, args, 0, "zeros_like"); }
Value ones_like(Graph& g, const Args& args) { return constants_like(g, args, 1, "ones_like"); }

}  // namespace

#define RUNHOOKS_REGISTER_REDUCTION(name, op, summary)                   \
  RUNHOOKS_REGISTER_FUNCTION(                                            \
      name                                                               \
      "(input_tensor, axis = NULL, keepdims = NULL, name = NULL, "       \
      "reduction_indices as axis = NULL, keep_dims as keepdims = NULL)", \
      summary, [](Graph& g, const Args& args) { return call_reduction(g, args, op); })

RUNHOOKS_REGISTER_REDUCTION("reduce_sum", "Sum", "The sum along axes.");
RUNHOOKS_REGISTER_REDUCTION("reduce_mean", "Mean", "The mean along axes.");
RUNHOOKS_REGISTER_REDUCTION("reduce_max", "Max", "The maximum along axes.");
RUNHOOKS_REGISTER_REDUCTION("reduce_min", "Min", "The minimum along axes.");
RUNHOOKS_REGISTER_REDUCTION("reduce_prod", "Prod", "The product along axes.");
RUNHOOKS_REGISTER_REDUCTION("reduce_all", "All", "Whether all elements along axes are TRUE.");
RUNHOOKS_REGISTER_REDUCTION("reduce_any", "Any", "Whether any element along axes is TRUE.");
RUNHOOKS_REGISTER_FUNCTION(
    "argmax, math.argmax(input, axis = NULL, name = NULL, "
    "dimension as axis = NULL, output_type = 'int64')",
    "The index of the maximum along an axis.",
    argmax);
RUNHOOKS_REGISTER_FUNCTION(
    "argmin, math.argmin(input, axis = NULL, name = NULL, "
    "dimension as axis = NULL, output_type = 'int64')",
    "The index of the minimum along an axis.",
    argmin);
RUNHOOKS_REGISTER_FUNCTION(
    "gather(params, indices, validate_indices = NULL, name = NULL, "
    "axis = NULL, batch_dims = 0)",
    "Gathers slices of a tensor by index along an axis.",
    gather);
RUNHOOKS_REGISTER_FUNCTION("clip_by_value(t, clip_value_min, clip_value_max, name = NULL)",
                           "Limits the elements of t to [clip_value_min, clip_value_max].",
                           clip_by_value);
RUNHOOKS_REGISTER_FUNCTION("zeros(shape, dtype = 'float32', name = NULL)",
                           "A constant of zeros.",
                           zeros);
RUNHOOKS_REGISTER_FUNCTION("ones(shape, dtype = 'float32', name = NULL)",
                           "A constant of ones.",
                           ones);
RUNHOOKS_REGISTER_FUNCTION("zeros_like(tensor, dtype = NULL, name = NULL, optimize = TRUE)",
                           "Zeros with the shape of a tensor.",
                           zeros_like);
RUNHOOKS_REGISTER_FUNCTION("ones_like(tensor, dtype = NULL, name = NULL, optimize = TRUE)",
                           "Ones with the shape of a tensor.",
                           ones_like);

}  // namespace runhooks
