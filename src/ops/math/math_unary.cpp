#include "ops/math/quiet_math.h"

#include <cmath>

#include "ops/math/elementwise.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

RUNHOOKS_UNARY_FN(NegFn, wrapping_negative(x));
RUNHOOKS_UNARY_FN(SquareFn, wrapping_multiply(x, x));
RUNHOOKS_UNARY_FN(AbsFn, x < 0 ? wrapping_negative(x) : x);
RUNHOOKS_UNARY_FN(SignFn, static_cast<T>((x > 0) - (x < 0)));
RUNHOOKS_UNARY_FN(SqrtFn, std::sqrt(x));
RUNHOOKS_UNARY_FN(RsqrtFn, T(1) / std::sqrt(x));
RUNHOOKS_UNARY_FN(LogFn, std::log(x));
RUNHOOKS_UNARY_FN(Log1pFn, std::log1p(x));
RUNHOOKS_UNARY_FN(ReciprocalFn, T(1) / x);
RUNHOOKS_UNARY_FN(TanhFn, tanh_of(x));
RUNHOOKS_UNARY_FN(ErfFn, std::erf(x));
RUNHOOKS_UNARY_FN(ErfcFn, std::erfc(x));
RUNHOOKS_UNARY_FN(SinFn, std::sin(x));
RUNHOOKS_UNARY_FN(CosFn, std::cos(x));
RUNHOOKS_UNARY_FN(FloorFn, std::floor(x));
RUNHOOKS_UNARY_FN(CeilFn, std::ceil(x));
// Rounds half to even, like R and TensorFlow.
RUNHOOKS_UNARY_FN(RoundFn, std::nearbyint(x));
RUNHOOKS_UNARY_FN(SigmoidFn, sigmoid_of(x));

template <typename F>
KernelFactory numeric_unary_kernel() {
  return kernel_by_type<Elementwise<F>::template Unary, float, double, int32_t, int64_t>();
}

// Gradients of functions whose derivative is infinite at 0. Where the incoming gradient `dy` is 0,
// the result is 0, not NaN.
#define RUNHOOKS_GRADIENT_FN(name, expression) \
  struct name {                                \
    template <typename T>                      \
    static T apply(T y, T dy) {                \
      return dy == T(0) ? T(0) : expression;   \
    }                                          \
  }

RUNHOOKS_GRADIENT_FN(SqrtGradFn, T(0.5) * dy / y);
// Computes in double and rounds once. The last bits matter where sums cancel, for example in batch
// normalization.
RUNHOOKS_GRADIENT_FN(RsqrtGradFn, static_cast<T>(-0.5 * dy * y * y * y));
RUNHOOKS_GRADIENT_FN(ReciprocalGradFn, -dy*(y* y));

#undef RUNHOOKS_GRADIENT_FN

// Returns a gradient function that adds the op `type`, whose inputs are the output y and its
// gradient.
GradientFn gradient_from_output(const char* type) {
  return [type](Graph& g, Operation& op, const Outputs& dy) -> Grads {
    return {g.op(type, {op.output(0), dy[0]})};
  };
}

// Computes scale * exp(-x^2), the derivative of Erf and Erfc. The scale of Erf is 2 / sqrt(pi).
Output scaled_gaussian(Graph& g, Output x, double scale) {
  return multiply(g, number(g, x, scale), g.op("Exp", {negative(g, g.op("Square", {x}))}));
}

template <typename From, typename To>
struct CastFn {
  static To apply(From x) { return static_cast<To>(x); }
};

template <typename From>
std::unique_ptr<Kernel> cast_kernel(DType to) {
  switch (to) {
    case DType::kFloat32:
      return std::make_unique<UnaryKernel<From, float, CastFn<From, float>>>();
    case DType::kFloat64:
      return std::make_unique<UnaryKernel<From, double, CastFn<From, double>>>();
    case DType::kInt32:
      return std::make_unique<UnaryKernel<From, int32_t, CastFn<From, int32_t>>>();
    case DType::kInt64:
      return std::make_unique<UnaryKernel<From, int64_t, CastFn<From, int64_t>>>();
    case DType::kBool:
      return std::make_unique<UnaryKernel<From, bool, CastFn<From, bool>>>();
    case DType::kUint8:
      return std::make_unique<UnaryKernel<From, uint8_t, CastFn<From, uint8_t>>>();
    default:
      return nullptr;
  }
}

std::unique_ptr<Kernel> make_cast_kernel(const Operation& op) {
  const DType from = op.attr_type("SrcT"), to = op.attr_type("DstT");
  std::unique_ptr<Kernel> kernel;
  if (from == DType::kFloat32) kernel = cast_kernel<float>(to);
  if (from == DType::kFloat64) kernel = cast_kernel<double>(to);
  if (from == DType::kInt32) kernel = cast_kernel<int32_t>(to);
  if (from == DType::kInt64) kernel = cast_kernel<int64_t>(to);
  if (from == DType::kBool) kernel = cast_kernel<bool>(to);
  if (from == DType::kUint8) kernel = cast_kernel<uint8_t>(to);
  if (!kernel) {
    fail(Code::kUnimplemented, "Cast ", dtype_name(from), " to ", dtype_name(to),
         " is not supported.");
  }
  return kernel;
}

}  // namespace

float exp_of_vector(float x) { return std::fabs(x) <= 87.0f ? exp_of_small(x) : std::exp(x); }
double exp_of_vector(double x) { return std::exp(x); }

template <typename T>
class ExpKernel : public Kernel {
 public:
  bool uses_threads() const override { return is_parallel_loop<T>(n_); }
  void prepare(KernelContext& c) override {
    x_ = c.input(0).data<T>();
    y_ = c.output(0).template data<T>();
    n_ = c.input(0).num_elements();
  }
  void compute(KernelContext&) override {
    const T* x = x_;
    T* y = y_;
    parallel_for_vectors(
        n_, [=](int64_t i) { y[i] = exp_of_vector(x[i]); },
        [=](int64_t i) { y[i] = std::exp(x[i]); });
  }

 private:
  const T* x_ = nullptr;
  T* y_ = nullptr;
  int64_t n_ = 0;
};

#define RUNHOOKS_UNARY_OP(type) \
  RUNHOOKS_REGISTER_OP(type).input("x: T").output("y: T").shape(unchanged_shape)

RUNHOOKS_UNARY_OP("Neg")
    .attr("T: numbertype")
    .kernel(numeric_unary_kernel<NegFn>())
    .gradient([](Graph& g, Operation&, const Outputs& dy) -> Grads { return {negative(g, dy[0])}; })
    .endpoint("negative")
    .summary("-x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Square")
    .attr("T: numbertype")
    .kernel(numeric_unary_kernel<SquareFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return multiply(g, x, number(g, x, 2));
    }))
    .summary("x^2, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Abs")
    .attr("T: numbertype")
    .kernel(numeric_unary_kernel<AbsFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output { return g.op("Sign", {x}); }))
    .summary("The absolute value, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Sign")
    .attr("T: numbertype")
    .kernel(numeric_unary_kernel<SignFn>())
    .gradient([](Graph& g, Operation& op, const Outputs&) -> Grads {
      return {g.op("ZerosLike", {op.input(0)})};
    })
    .summary("-1, 0 or 1, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Sqrt")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<SqrtFn>())
    .gradient(gradient_from_output("SqrtGrad"))
    .summary("The square root of x, elementwise.")
    .example("p[2,3]");

RUNHOOKS_UNARY_OP("Rsqrt")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<RsqrtFn>())
    .gradient(gradient_from_output("RsqrtGrad"))
    .summary("1 / sqrt(x), elementwise.")
    .example("p[2,3]");

// Ops that compute the gradient of a function from its output y. They have a gradient, too, for
// second derivatives.
#define RUNHOOKS_OUTPUT_GRAD_OP(type, Fn)                                                 \
  RUNHOOKS_REGISTER_OP(type)                                                              \
      .input("y: T")                                                                      \
      .input("dy: T")                                                                     \
      .output("z: T")                                                                     \
      .attr("T: {float, double}")                                                         \
      .shape([](ShapeContext& c) { c.set_output(0, c.input(0).merge_with(c.input(1))); }) \
      .kernel(float_binary_kernel<Fn>())                                                  \
      .endpoint("raw_ops." type)                                                          \
      .example("p[2,3] f[2,3]")

RUNHOOKS_OUTPUT_GRAD_OP("SqrtGrad", SqrtGradFn)
    .gradient([](Graph& g, Operation& op, const Outputs& d) -> Grads {
      const Output slope = divide(g, d[0], op.input(0));
      return {multiply(g, negative(g, slope), op.output(0)),
              multiply(g, number(g, slope, 0.5), slope)};
    })
    .summary("The gradient of Sqrt, y being its output.");

RUNHOOKS_OUTPUT_GRAD_OP("RsqrtGrad", RsqrtGradFn)
    .gradient([](Graph& g, Operation& op, const Outputs& d) -> Grads {
      const Output y = op.input(0), product = multiply(g, d[0], op.input(1));
      return {multiply(g, multiply(g, number(g, y, -1.5), product), multiply(g, y, y)),
              g.op("RsqrtGrad", {y, d[0]})};
    })
    .summary("The gradient of Rsqrt, y being its output.");

RUNHOOKS_OUTPUT_GRAD_OP("ReciprocalGrad", ReciprocalGradFn)
    .gradient([](Graph& g, Operation& op, const Outputs& d) -> Grads {
      const Output y = op.input(0), product = multiply(g, d[0], op.input(1));
      return {multiply(g, multiply(g, number(g, y, -2), product), y),
              g.op("ReciprocalGrad", {y, d[0]})};
    })
    .summary("The gradient of Reciprocal, computed from its output y.");

RUNHOOKS_UNARY_OP("Exp")
    .attr("T: {float, double}")
    .kernel(kernel_by_type<ExpKernel, float, double>())
    .gradient(chain_rule([](Graph&, Output, Output y) { return y; }))
    .summary("e to the power of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Log")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<LogFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output {
      return g.op("Reciprocal", {x});
    }))
    .summary("The natural logarithm of x, elementwise.")
    .example("p[2,3]");

RUNHOOKS_UNARY_OP("Log1p")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<Log1pFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output {
      return g.op("Reciprocal", {add(g, number(g, x, 1), x)});
    }))
    .summary("log(1 + x), elementwise.")
    .example("p[2,3]");

RUNHOOKS_UNARY_OP("Reciprocal")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<ReciprocalFn>())
    .gradient(gradient_from_output("ReciprocalGrad"))
    .summary("1 / x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Tanh")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<TanhFn>())
    .gradient(gradient_from_output("TanhGrad"))
    .endpoint("tanh")
    .endpoint("nn.tanh")
    .endpoint("math.tanh")
    .summary("The hyperbolic tangent of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Sigmoid")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<SigmoidFn>())
    .gradient(gradient_from_output("SigmoidGrad"))
    .endpoint("sigmoid")
    .endpoint("nn.sigmoid")
    .endpoint("math.sigmoid")
    .summary("1 / (1 + exp(-x)), elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Erf")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<ErfFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return scaled_gaussian(g, x, 1.1283791670955126);
    }))
    .endpoint("erf")
    .endpoint("math.erf")
    .summary("The error function, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Erfc")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<ErfcFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return scaled_gaussian(g, x, -1.1283791670955126);
    }))
    .endpoint("erfc")
    .endpoint("math.erfc")
    .summary("1 - erf(x), elementwise, accurate where erf(x) is near 1.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Sin")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<SinFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output { return g.op("Cos", {x}); }))
    .summary("The sine of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Cos")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<CosFn>())
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output {
      return negative(g, g.op("Sin", {x}));
    }))
    .summary("The cosine of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Floor")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<FloorFn>())
    .not_differentiable()
    .summary("The largest integer not above x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Ceil")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<CeilFn>())
    .not_differentiable()
    .summary("The smallest integer not below x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_UNARY_OP("Round")
    .attr("T: {float, double}")
    .kernel(float_unary_kernel<RoundFn>())
    .not_differentiable()
    .summary("The nearest integer, rounding half to even, elementwise.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("Cast")
    .input("x: SrcT")
    .output("y: DstT")
    .attr("SrcT: type")
    .attr("DstT: type")
    .attr("Truncate: bool = false")
    .shape(unchanged_shape)
    .kernel(make_cast_kernel)
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      if (!is_floating(op.input(0).dtype())) return {Gradient()};
      return {cast(g, dy[0], op.input(0).dtype())};
    })
    .endpoint("raw_ops.Cast")
    .r("cast(x, dtype as DstT, name = NULL)")
    .summary("Converts x to another type; truncates fractions.")
    .example("f[2,3] | DstT=double")
    .example("i{1,2} | DstT=float");

}  // namespace runhooks
