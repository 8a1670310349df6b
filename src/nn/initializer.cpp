#include "nn/initializer.h"

#include <algorithm>
#include <cmath>

#include "graph/graph_function.h"

namespace runhooks {

Seed seed_argument(const Args& args) {
  return args.has("seed") ? Seed(args.integer("seed")) : Seed();
}

OpSeeds op_seeds(const Graph& graph, std::optional<int64_t> op_seed) {
  if (!graph.has_seed() && !op_seed) return {0, 0};
  const int64_t kDefaultGraphSeed = 87654321;
  const int64_t kMaxSeed = (int64_t{1} << 31) - 1;
  auto truncated = [](int64_t seed) { return ((seed % kMaxSeed) + kMaxSeed) % kMaxSeed; };
  const int64_t graph_seed = truncated(graph.has_seed() ? graph.seed() : kDefaultGraphSeed);
  const int64_t own_seed = truncated(op_seed ? *op_seed : graph.seed_number());
  // The pair (0, 0) means "no seed".
  if (graph_seed == 0 && own_seed == 0) return {0, kMaxSeed};
  return {graph_seed, own_seed};
}

namespace {

Output random_op(Graph& graph, const char* type, Output shape, DType dtype, Seed seed) {
  const OpSeeds seeds = op_seeds(graph, seed);
  return graph.op(type, {shape})
      .attr("dtype", dtype)
      .attr("seed", seeds.seed)
      .attr("seed2", seeds.seed2);
}

// Computes x * scale + shift; the result is named after the scope.
Output scale_and_shift(Graph& graph, Output x, Output scale, Output shift, const NameScope& scope) {
  const Output product = graph.op("Mul", {x, scale}).named("mul");
  return graph.op("Add", {product, shift}).named(scope.name());
}

Output normal_by_moments(Graph& graph,
                         const char* type,
                         Output shape,
                         double mean,
                         double stddev,
                         DType dtype,
                         Seed seed,
                         const NameScope& scope) {
  const Output m = graph.scalar(dtype, mean, "mean"), s = graph.scalar(dtype, stddev, "stddev");
  return scale_and_shift(graph, random_op(graph, type, shape, dtype, seed), s, m, scope);
}

// Adds the shape as a tensor. It is a function, so that a constant shape is created inside the
// initializer's name scope.
using ShapeFn = std::function<Output(Graph&)>;

ShapeFn same_shape(Output shape) {
  return [shape](Graph&) { return shape; };
}
ShapeFn constant(const Shape& shape) {
  return [shape](Graph& graph) { return shape_constant(graph, shape); };
}

Output uniform_in_scope(Graph& graph,
                        const ShapeFn& shape,
                        double minval,
                        double maxval,
                        DType dtype,
                        Seed seed,
                        const std::string& name) {
  const NameScope scope(graph, name);
  const Output dims = shape(graph);
  const Output low = graph.scalar(dtype, minval, "min"), high = graph.scalar(dtype, maxval, "max");
  const Output unit = random_op(graph, "RandomUniform", dims, dtype, seed);
  const Output width = graph.op("Sub", {high, low}).named("sub");
  return scale_and_shift(graph, unit, width, low, scope);
}

Output normal_in_scope(Graph& graph,
                       const char* type,
                       const ShapeFn& shape,
                       double mean,
                       double stddev,
                       DType dtype,
                       Seed seed,
                       const std::string& name) {
  const NameScope scope(graph, name);
  return normal_by_moments(graph, type, shape(graph), mean, stddev, dtype, seed, scope);
}

void check_floating(DType dtype, const char* function_name) {
  if (!is_floating(dtype)) {
    invalid_argument(function_name, " needs a floating-point type, not ", dtype_name(dtype), ".");
  }
}

struct FanInAndOut {
  double in, out;
};
FanInAndOut fan_in_and_out(const Shape& shape) {
  const int rank = shape.rank();
  if (rank == 0) return {1, 1};
  if (rank == 1) return {static_cast<double>(shape.dim(0)), static_cast<double>(shape.dim(0))};
  double field = 1;
  for (int i = 0; i + 2 < rank; ++i) field *= static_cast<double>(shape.dim(i));
  return {field * static_cast<double>(shape.dim(rank - 2)),
          field * static_cast<double>(shape.dim(rank - 1))};
}

// The standard deviation of a standard normal distribution that is truncated to [-2, 2].
constexpr double kTruncatedDeviation = 0.87962566103423978;

Tensor identity_matrix(DType dtype, int64_t rows, int64_t columns, double gain) {
  Tensor matrix = Tensor::zeros(dtype, Shape{rows, columns});
  for (int64_t i = 0; i < std::min(rows, columns); ++i) {
    if (dtype == DType::kFloat64) {
      matrix.data<double>()[i * columns + i] = gain;
    } else {
      matrix.data<float>()[i * columns + i] = static_cast<float>(gain);
    }
  }
  return matrix;
}

Output orthogonal_matrix(Graph& graph, const Shape& shape, DType dtype, double gain, Seed seed) {
  check_floating(dtype, "orthogonal_initializer");
  if (shape.rank() < 2) {
    invalid_argument("The tensor to initialize must be at least two-dimensional; got shape ", shape,
                     ".");
  }
  const int64_t columns = shape.dim(shape.rank() - 1);
  const int64_t rows = columns == 0 ? 0 : shape.num_elements() / columns;
  const int64_t larger = std::max(rows, columns), smaller = std::min(rows, columns);
  const Output x = normal_in_scope(graph, "RandomStandardNormal", constant(Shape{larger, smaller}),
                                   0, 1, dtype, seed, "random_normal");
  Operation* qr = graph.op("Qr", {x});
  // Sign correction that makes Q uniformly distributed (Mezzadri 2007).
  const Output mask = graph.constant(identity_matrix(dtype, smaller, smaller, 1), "eye");
  const Output diagonal = graph.op(
      "Sum", {graph.op("Mul", {qr->output(1), mask}).named("diag"), graph.int_vector({0})});
  Output q = graph.op("Mul", {qr->output(0), graph.op("Sign", {diagonal})}).named("mul");
  if (rows < columns) {
    q = graph.op("MatMul", {q, graph.constant(identity_matrix(dtype, larger, larger, 1), "eye")})
            .attr("transpose_a", true)
            .named("transpose");
  }
  const Output shaped = graph.op("Reshape", {q, shape_constant(graph, shape, "Reshape/shape")});
  return graph.op("Mul", {graph.scalar(dtype, gain, "mul/x"), shaped}).named("mul");
}

}  // namespace

Output shape_constant(Graph& graph, const Shape& shape, const std::string& name) {
  std::vector<int32_t> dims;
  for (int64_t dim : shape.dims()) dims.push_back(static_cast<int32_t>(dim));
  return graph.int_vector(dims, name);
}

Output random_uniform(Graph& graph,
                      Output shape,
                      double minval,
                      double maxval,
                      DType dtype,
                      Seed seed,
                      const std::string& name) {
  check_floating(dtype, "random_uniform");
  return uniform_in_scope(graph, same_shape(shape), minval, maxval, dtype, seed, name);
}

Output random_normal(Graph& graph,
                     Output shape,
                     double mean,
                     double stddev,
                     DType dtype,
                     Seed seed,
                     const std::string& name) {
  check_floating(dtype, "random_normal");
  return normal_in_scope(graph, "RandomStandardNormal", same_shape(shape), mean, stddev, dtype,
                         seed, name);
}

Output truncated_normal(Graph& graph,
                        Output shape,
                        double mean,
                        double stddev,
                        DType dtype,
                        Seed seed,
                        const std::string& name) {
  check_floating(dtype, "truncated_normal");
  return normal_in_scope(graph, "TruncatedNormal", same_shape(shape), mean, stddev, dtype, seed,
                         name);
}

Output random_integers(Graph& graph,
                       Output shape,
                       int64_t minval,
                       int64_t maxval,
                       DType dtype,
                       Seed seed,
                       const std::string& name) {
  const NameScope scope(graph, name);
  const Output low = graph.scalar(dtype, static_cast<double>(minval), "min");
  const Output high = graph.scalar(dtype, static_cast<double>(maxval), "max");
  const OpSeeds seeds = op_seeds(graph, seed);
  return graph.op("RandomUniformInt", {shape, low, high})
      .attr("seed", seeds.seed)
      .attr("seed2", seeds.seed2)
      .named(scope.name());
}

Initializer ones_initializer() { return constant_initializer(1, "ones"); }

Initializer random_uniform_initializer(double minval, double maxval, Seed seed) {
  return [=](Graph& graph, const Shape& shape, DType dtype) {
    check_floating(dtype, "random_uniform_initializer");
    return uniform_in_scope(graph, constant(shape), minval, maxval, dtype, seed, "random_uniform");
  };
}

Initializer random_normal_initializer(double mean, double stddev, Seed seed) {
  return [=](Graph& graph, const Shape& shape, DType dtype) {
    check_floating(dtype, "random_normal_initializer");
    return normal_in_scope(graph, "RandomStandardNormal", constant(shape), mean, stddev, dtype,
                           seed, "random_normal");
  };
}

Initializer truncated_normal_initializer(double mean, double stddev, Seed seed) {
  return [=](Graph& graph, const Shape& shape, DType dtype) {
    check_floating(dtype, "truncated_normal_initializer");
    return normal_in_scope(graph, "TruncatedNormal", constant(shape), mean, stddev, dtype, seed,
                           "truncated_normal");
  };
}

Initializer uniform_unit_scaling_initializer(double factor, Seed seed) {
  return [=](Graph& graph, const Shape& shape, DType dtype) {
    double inputs = 1;
    for (int i = 0; i + 1 < shape.rank(); ++i) inputs *= static_cast<double>(shape.dim(i));
    const double limit = std::sqrt(3 / std::max(inputs, 1.0)) * factor;
    return random_uniform_initializer(-limit, limit, seed)(graph, shape, dtype);
  };
}

Initializer variance_scaling_initializer(double scale,
                                         const std::string& mode,
                                         const std::string& distribution,
                                         Seed seed) {
  if (scale <= 0) invalid_argument("`scale` must be positive float, not ", scale, ".");
  if (mode != "fan_in" && mode != "fan_out" && mode != "fan_avg") {
    throw Error(Code::kInvalidArgument, str_cat("Invalid `mode` argument: ", mode, "."),
                {"It is one of: fan_in, fan_out, fan_avg."});
  }
  const bool is_truncated = distribution == "normal" || distribution == "truncated_normal";
  if (!is_truncated && distribution != "uniform" && distribution != "untruncated_normal") {
    throw Error(Code::kInvalidArgument,
                str_cat("Invalid `distribution` argument: ", distribution, "."),
                {"It is one of: normal, truncated_normal, untruncated_normal, uniform."});
  }
  return [=](Graph& graph, const Shape& shape, DType dtype) {
    const FanInAndOut fans = fan_in_and_out(shape);
    double n = (fans.in + fans.out) / 2;
    if (mode == "fan_in") n = fans.in;
    if (mode == "fan_out") n = fans.out;
    const double variance = scale / std::max(1.0, n);
    if (distribution == "uniform") {
      const double limit = std::sqrt(3 * variance);
      return random_uniform_initializer(-limit, limit, seed)(graph, shape, dtype);
    }
    const double deviation = std::sqrt(variance);
    if (!is_truncated) return random_normal_initializer(0, deviation, seed)(graph, shape, dtype);
    const double untruncated_deviation = deviation / kTruncatedDeviation;
    return truncated_normal_initializer(0, untruncated_deviation, seed)(graph, shape, dtype);
  };
}

Initializer glorot_uniform_initializer(Seed seed) {
  return variance_scaling_initializer(1, "fan_avg", "uniform", seed);
}

Initializer orthogonal_initializer(double gain, Seed seed) {
  return [=](Graph& graph, const Shape& shape, DType dtype) {
    return orthogonal_matrix(graph, shape, dtype, gain, seed);
  };
}

Initializer identity_initializer(double gain) {
  return [gain](Graph& graph, const Shape& shape, DType dtype) {
    check_floating(dtype, "identity_initializer");
    if (shape.rank() != 2) {
      invalid_argument("Identity matrix initializer can only be used for 2D matrices; got shape ",
                       shape, ".");
    }
    return graph.constant(identity_matrix(dtype, shape.dim(0), shape.dim(1), gain), "eye");
  };
}

namespace {

Initializer constant_argument(const Args& args) {
  const Value* value = args.find("value");
  double number;
  if (!value || value_number(*value, &number)) return constant_initializer(value ? number : 0);
  const Value argument = *value;
  return [argument](Graph& graph, const Shape& shape, DType dtype) -> Output {
    const Output tensor = tensor_of_value(graph, argument, "Const", dtype);
    if (tensor.shape().is_fully_defined() &&
        tensor.shape().num_elements() != shape.num_elements()) {
      invalid_argument("A constant initializer of ", tensor.shape().num_elements(),
                       " values cannot fill the shape ", shape, ".");
    }
    return graph.op("Reshape", {tensor, shape_constant(graph, shape)});
  };
}

struct NamedInitializer {
  const char* type;
  Initializer (*make)(const Args&, Seed);
};

const std::vector<NamedInitializer>& initializers() {
  static const auto* all = new std::vector<NamedInitializer>{
      {"zeros", [](const Args&, Seed) { return zeros_initializer(); }},
      {"ones", [](const Args&, Seed) { return ones_initializer(); }},
      {"constant", [](const Args& args, Seed) { return constant_argument(args); }},
      {"random_uniform",
       [](const Args& args, Seed seed) {
         return random_uniform_initializer(args.number("minval", 0), args.number("maxval", 1),
                                           seed);
       }},
      {"random_normal",
       [](const Args& args, Seed seed) {
         return random_normal_initializer(args.number("mean", 0), args.number("stddev", 1), seed);
       }},
      {"truncated_normal",
       [](const Args& args, Seed seed) {
         return truncated_normal_initializer(args.number("mean", 0), args.number("stddev", 1),
                                             seed);
       }},
      {"uniform_unit_scaling",
       [](const Args& args, Seed seed) {
         return uniform_unit_scaling_initializer(args.number("factor", 1), seed);
       }},
      {"variance_scaling",
       [](const Args& args, Seed seed) {
         return variance_scaling_initializer(args.number("scale", 1), args.text("mode", "fan_in"),
                                             args.text("distribution", "truncated_normal"), seed);
       }},
      {"orthogonal",
       [](const Args& args, Seed seed) {
         return orthogonal_initializer(args.number("gain", 1), seed);
       }},
      {"identity",
       [](const Args& args, Seed) { return identity_initializer(args.number("gain", 1)); }}};
  return *all;
}

Initializer from_function(const std::shared_ptr<Callable>& function, const std::string& name) {
  return [function, name](Graph& graph, const Shape& shape, DType dtype) {
    auto dims = std::make_shared<ValueList>();
    for (int64_t dim : shape.dims()) dims->push_back(Value::of(dim));
    const Value type = Value::of(std::string(dtype_name(dtype)));
    return tensor_of_value(graph, function->call({Value::of(dims), type}), name, dtype);
  };
}

}  // namespace

Initializer make_initializer(const std::string& type, const Args& args) {
  std::vector<std::string> names;
  for (const NamedInitializer& entry : initializers()) {
    if (type == entry.type) return entry.make(args, seed_argument(args));
    names.emplace_back(entry.type);
  }
  throw Error(Code::kInvalidArgument, str_cat("Unknown initializer '", type, "'."),
              {str_cat("Available: ", str_join(names, ", "), ".")});
}

Initializer initializer_of(const Value& value, const std::string& name) {
  double number;
  if (value.is_null()) return Initializer();
  if (value_number(value, &number)) return constant_initializer(number);
  if (const auto* function = value.get_if<std::shared_ptr<Callable>>()) {
    return from_function(*function, name);
  }
  if (const auto* spec = value.get_if<std::shared_ptr<Args>>()) {
    return make_initializer((*spec)->text("type"), **spec);
  }
  return [value, name](Graph& graph, const Shape&, DType dtype) {
    return tensor_of_value(graph, value, name, dtype);
  };
}

Initializer initializer_argument(const Args& args, const std::string& name) {
  const Value* value = args.find(name);
  return value ? initializer_of(*value, name) : Initializer();
}

namespace {

Output shape_argument(Graph& graph, const Args& args) {
  const Value* value = args.find("shape");
  if (value && has_tensor(*value)) return tensor_of_value(graph, *value, "shape", DType::kInt32);
  return shape_constant(graph, Shape(whole_numbers(args, "shape")));
}

// Computes x * scale + shift, where scale and shift are numbers or tensors.
Output scale_and_shift_by_values(
    Graph& graph, const Args& args, Output x, const Value& scale, const Value& shift) {
  const Output factor = tensor_of_value(graph, scale, "scale", x.dtype());
  const Output scaled = graph.op("Mul", {x, factor}).named("mul");
  return graph.op("AddV2", {scaled, tensor_of_value(graph, shift, args.owner(), x.dtype())});
}

bool is_tensor_argument(const Args& args, const std::string& name) {
  return args.has(name) && has_tensor(*args.find(name));
}

Value value_or_default(const Args& args, const std::string& name, double otherwise) {
  return args.has(name) ? *args.find(name) : Value::of(otherwise);
}

Value with_known_shape(const Args& args, Output x) {
  const Value* shape = args.find("shape");
  if (shape && has_tensor(*shape)) {
    if (const Shape names = known_shape(*shape); names.has_rank()) {
      x.op->set_output_shape(0, names);
    }
  }
  return Value::of(x);
}

Value call_random_uniform(Graph& graph, const Args& args) {
  const DType dtype = dtype_argument(args, "dtype", DType::kFloat32);
  const std::string name = args.text("name", "random_uniform");
  const NameScope scope(graph, name);
  const Output shape = shape_argument(graph, args);
  if (is_integer(dtype)) {
    if (!args.has("maxval")) {
      invalid_argument("Must specify maxval for integer dtype ", dtype_name(dtype), ".");
    }
    return Value::of(random_integers(graph, shape, args.integer("minval", 0),
                                     args.integer("maxval"), dtype, seed_argument(args),
                                     scope.name()));
  }
  if (is_tensor_argument(args, "minval") || is_tensor_argument(args, "maxval")) {
    const Output unit = random_uniform(graph, shape, 0, 1, dtype, seed_argument(args));
    const Value low = value_or_default(args, "minval", 0);
    const Output highest =
        tensor_of_value(graph, value_or_default(args, "maxval", 1), "maxval", dtype);
    const Output width =
        graph.op("Sub", {highest, tensor_of_value(graph, low, "minval", dtype)}).named("sub");
    return Value::of(scale_and_shift_by_values(graph, args, unit, Value::of(width), low));
  }
  return with_known_shape(
      args, random_uniform(graph, shape, args.number("minval", 0), args.number("maxval", 1), dtype,
                           seed_argument(args), scope.name()));
}

using Draw = Output (*)(Graph&, Output, double, double, DType, Seed, const std::string&);

Value call_normal(Graph& graph, const Args& args, Draw draw, const char* name) {
  const NameScope scope(graph, args.text("name", name));
  const Output shape = shape_argument(graph, args);
  const DType dtype = dtype_argument(args, "dtype", DType::kFloat32);
  if (is_tensor_argument(args, "mean") || is_tensor_argument(args, "stddev")) {
    const Output unit = draw(graph, shape, 0, 1, dtype, seed_argument(args), "unit");
    return Value::of(scale_and_shift_by_values(
        graph, args, unit, value_or_default(args, "stddev", 1), value_or_default(args, "mean", 0)));
  }
  return with_known_shape(args, draw(graph, shape, args.number("mean", 0), args.number("stddev", 1),
                                     dtype, seed_argument(args), scope.name()));
}
Value call_random_normal(Graph& graph, const Args& args) {
  return call_normal(graph, args, random_normal, "random_normal");
}
Value call_truncated_normal(Graph& graph, const Args& args) {
  return call_normal(graph, args, truncated_normal, "truncated_normal");
}

Value call_initializer(Graph& graph, const Args& args) {
  const Initializer initializer = initializer_argument(args, "initializer");
  return Value::of(initializer(graph, Shape(whole_numbers(args, "shape")),
                               dtype_argument(args, "dtype", DType::kFloat32)));
}

}  // namespace

[[maybe_unused]] const bool kIsDefaultSet =
    (default_initializer() = glorot_uniform_initializer(), true);

RUNHOOKS_REGISTER_FUNCTION(
    "random_uniform, random.uniform, python.ops.random_ops.random_uniform(shape, minval = 0, "
    "maxval = NULL, dtype = 'float32', seed = NULL, name = NULL)",
    "Uniformly distributed random numbers in [minval, maxval).",
    call_random_uniform);
RUNHOOKS_REGISTER_FUNCTION(
    "random_normal, random.normal(shape, mean = 0, stddev = 1, dtype = 'float32', seed = NULL, "
    "name = NULL)",
    "Normally distributed random numbers.",
    call_random_normal);
RUNHOOKS_REGISTER_FUNCTION(
    "truncated_normal, random.truncated_normal(shape, mean = 0, stddev = 1, dtype = 'float32', "
    "seed = NULL, name = NULL)",
    "Normally distributed random numbers within two standard deviations of the mean.",
    call_truncated_normal);
RUNHOOKS_REGISTER_FUNCTION("_initializer_values(initializer, shape, dtype = 'float32')",
                           "The initial values that an initializer creates.",
                           call_initializer);

}  // namespace runhooks
