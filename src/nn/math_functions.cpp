// Functions of tf and tf.math that need several ops, or accept more than one op does (optional
// axes, numbers as operands).
#include "graph/graph_function.h"
#include "graph/variable.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Output all_axes(Graph& g, Output x) {
  std::vector<int32_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  if (x.shape().has_rank()) return g.int_vector(axes);
  const Output rank = g.op("Rank", {x});
  return g.op("Range", {g.scalar(DType::kInt32, 0), rank, g.scalar(DType::kInt32, 1)});
}

Value reduce_argument(Graph& g, const Args& args, const char* type) {
  const Output x = tensor_argument(g, args, "input_tensor");
  const Value* given = args.find("axis");
  Output axes;
  if (!given) {
    axes = all_axes(g, x);
  } else if (given->get_if<Output>()) {
    axes = *given->get_if<Output>();
  } else {
    const std::vector<int64_t> numbers = whole_numbers(args, "axis");
    axes = g.int_vector(std::vector<int32_t>(numbers.begin(), numbers.end()));
  }
  return Value::of(g.op(type, {x, axes})
                       .attr("keep_dims", args.flag("keepdims", false))
                       .named(args.text("name", type)));
}
Value reduce_sum(Graph& g, const Args& args) { return reduce_argument(g, args, "Sum"); }
Value reduce_mean(Graph& g, const Args& args) { return reduce_argument(g, args, "Mean"); }
Value reduce_max(Graph& g, const Args& args) { return reduce_argument(g, args, "Max"); }
Value reduce_min(Graph& g, const Args& args) { return reduce_argument(g, args, "Min"); }
Value reduce_prod(Graph& g, const Args& args) { return reduce_argument(g, args, "Prod"); }
Value reduce_all(Graph& g, const Args& args) { return reduce_argument(g, args, "All"); }
Value reduce_any(Graph& g, const Args& args) { return reduce_argument(g, args, "Any"); }

Value extremum(Graph& g, const Args& args, const char* type) {
  const Output input = tensor_argument(g, args, "input");
  const Value* given = args.find("axis");
  const Output axis = given ? tensor_of_value(g, *given, "dimension", DType::kInt32)
                            : g.scalar(DType::kInt32, 0, "dimension");
  return Value::of(g.op(type, {input, axis})
                       .attr("output_type", dtype_argument(args, "output_type", DType::kInt64))
                       .named(args.text("name", type)));
}
Value argmax(Graph& g, const Args& args) { return extremum(g, args, "ArgMax"); }
Value argmin(Graph& g, const Args& args) { return extremum(g, args, "ArgMin"); }

Value gather(Graph& g, const Args& args) {
  const Output params = tensor_argument(g, args, "params");
  const Output indices = tensor_argument(g, args, "indices", DType::kInt32);
  args.flag("validate_indices", true);  // the CPU kernel always validates
  const int64_t batch_dims = args.integer("batch_dims", 0);
  const Value* axis = args.find("axis");
  const Output along = axis ? tensor_of_value(g, *axis, "axis", DType::kInt32)
                            : g.scalar(DType::kInt32, static_cast<double>(batch_dims), "axis");
  return Value::of(g.op("GatherV2", {params, indices, along})
                       .attr("batch_dims", batch_dims)
                       .named(args.text("name", "GatherV2")));
}

Value clip_by_value(Graph& g, const Args& args) {
  const Gradient t = gradient_argument(g, args, "t");
  const Output largest = tensor_argument(g, args, "clip_value_max", t.values.dtype());
  const Output smallest = tensor_argument(g, args, "clip_value_min", t.values.dtype());
  return gradient_value(transform_values(t, [&](const Output& values) -> Output {
    const Output below = g.op("Minimum", {values, largest});
    return g.op("Maximum", {below, smallest}).named(args.text("name", "Maximum"));
  }));
}

Tensor filled(DType dtype, const Shape& shape, double x) {
  Tensor tensor(dtype, shape);
  if (dtype == DType::kString) {
    tensor.set_dictionary(std::make_shared<StringDictionary>());
    const int32_t code = tensor.dictionary()->code("");
    for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.data<int32_t>()[i] = code;
    return tensor;
  }
  const Tensor one = Tensor::number(dtype, x);
  auto* to = static_cast<char*>(tensor.raw());
  for (int64_t i = 0; i < tensor.num_elements(); ++i, to += dtype_size(dtype)) {
    std::memcpy(to, one.raw(), dtype_size(dtype));
  }
  return tensor;
}

Value constants(Graph& g, const Args& args, double x, const char* name) {
  const DType dtype = dtype_argument(args, "dtype", DType::kFloat32);
  const std::string own = args.text("name", name);
  const Value* shape = args.find("shape");
  if (shape && has_tensor(*shape)) {
    const Output dims = tensor_of_value(g, *shape, "shape", DType::kInt32);
    const Output value = g.constant(filled(dtype, Shape(), x));
    Output result = g.op("Fill", {dims, value}).named(own);
    if (const Shape known = known_shape(*shape); known.has_rank()) {
      result.op->set_output_shape(0, known);
    }
    return Value::of(result);
  }
  return Value::of(g.constant(filled(dtype, Shape(whole_numbers(args, "shape")), x), own));
}
Value zeros(Graph& g, const Args& args) { return constants(g, args, 0, "zeros"); }
Value ones(Graph& g, const Args& args) { return constants(g, args, 1, "ones"); }

Value constants_like(Graph& g, const Args& args, double x, const char* name) {
  const Output tensor = tensor_argument(g, args, "tensor");
  const DType dtype = dtype_argument(args, "dtype", tensor.dtype());
  args.flag("optimize", true);  // a hint for graph construction
  const std::string own = args.text("name", name);
  if (x == 0 && dtype == tensor.dtype() && dtype != DType::kString) {
    return Value::of(g.op("ZerosLike", {tensor}).named(own));
  }
  const Output value = g.constant(filled(dtype, Shape(), x));
  return Value::of(g.op("Fill", {shape_of(g, tensor), value}).named(own));
}
Value zeros_like(Graph& g, const Args& args) { return constants_like(g, args, 0, "zeros_like"); }
Value ones_like(Graph& g, const Args& args) { return constants_like(g, args, 1, "ones_like"); }

}  // namespace

#define RUNHOOKS_REDUCTION(function, summary)                                                   \
  RUNHOOKS_REGISTER_FUNCTION(#function                                                          \
                             "(input_tensor, axis = NULL, keepdims = NULL, name = NULL, "       \
                             "reduction_indices as axis = NULL, keep_dims as keepdims = NULL)", \
                             summary, function)
RUNHOOKS_REDUCTION(reduce_sum, "The sum along axes.");
RUNHOOKS_REDUCTION(reduce_mean, "The mean along axes.");
RUNHOOKS_REDUCTION(reduce_max, "The largest element along axes.");
RUNHOOKS_REDUCTION(reduce_min, "The smallest element along axes.");
RUNHOOKS_REDUCTION(reduce_prod, "The product along axes.");
RUNHOOKS_REDUCTION(reduce_all, "Whether all are TRUE along axes.");
RUNHOOKS_REDUCTION(reduce_any, "Whether any is TRUE along axes.");
RUNHOOKS_REGISTER_FUNCTION(
    "argmax, math.argmax(input, axis = NULL, name = NULL, "
    "dimension as axis = NULL, output_type = 'int64')",
    "Where the largest element along an axis is.",
    argmax);
RUNHOOKS_REGISTER_FUNCTION(
    "argmin, math.argmin(input, axis = NULL, name = NULL, "
    "dimension as axis = NULL, output_type = 'int64')",
    "Where the smallest element along an axis is.",
    argmin);
RUNHOOKS_REGISTER_FUNCTION(
    "gather(params, indices, validate_indices = NULL, name = NULL, "
    "axis = NULL, batch_dims = 0)",
    "The slices of a tensor at indices along an axis.",
    gather);
RUNHOOKS_REGISTER_FUNCTION("clip_by_value(t, clip_value_min, clip_value_max, name = NULL)",
                           "t, limited to an interval.",
                           clip_by_value);
RUNHOOKS_REGISTER_FUNCTION("zeros(shape, dtype = 'float32', name = NULL)",
                           "A constant of zeros.",
                           zeros);
RUNHOOKS_REGISTER_FUNCTION("ones(shape, dtype = 'float32', name = NULL)",
                           "A constant of ones.",
                           ones);
RUNHOOKS_REGISTER_FUNCTION("zeros_like(tensor, dtype = NULL, name = NULL, optimize = TRUE)",
                           "Zeros in the shape of a tensor.",
                           zeros_like);
RUNHOOKS_REGISTER_FUNCTION("ones_like(tensor, dtype = NULL, name = NULL, optimize = TRUE)",
                           "Ones in the shape of a tensor.",
                           ones_like);

}  // namespace runhooks
