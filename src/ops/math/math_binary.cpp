#include "ops/math/quiet_math.h"

#include <cmath>

#include "ops/math/elementwise.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

RUNHOOKS_BINARY_FN(AddFn, wrapping_add(a, b));
RUNHOOKS_BINARY_FN(SubFn, wrapping_subtract(a, b));
RUNHOOKS_BINARY_FN(MulFn, wrapping_multiply(a, b));
RUNHOOKS_BINARY_FN(DivFn, a / b);
RUNHOOKS_BINARY_FN(DivNoNanFn, b == T(0) ? T(0) : a / b);
// The result is NaN if one operand is NaN, as in TensorFlow 2. TensorFlow 1 returns the first
// operand, which can hide a NaN.
RUNHOOKS_BINARY_FN(MaximumFn, a < b || b != b ? b : a);
RUNHOOKS_BINARY_FN(MinimumFn, b < a || b != b ? b : a);
struct PowFn {
  static float apply(float a, float b) { return std::pow(a, b); }
  static double apply(double a, double b) { return std::pow(a, b); }
  template <typename T>
  static T apply(T a, T b) {
    if (b < 0) invalid_argument("Integers to negative integer powers are not allowed.");
    T result = 1;
    for (; b > 0; b >>= 1, a = wrapping_multiply(a, a)) {
      if (b & 1) result = wrapping_multiply(result, a);
    }
    return result;
  }
};
struct SquaredDifferenceFn {
  template <typename T>
  static T apply(T a, T b) {
    const T difference = wrapping_subtract(a, b);
    return wrapping_multiply(difference, difference);
  }
};
struct FloorDivFn {
  static float apply(float a, float b) { return std::floor(a / b); }
  static double apply(double a, double b) { return std::floor(a / b); }
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0) invalid_argument("Integer division by zero.");
    if (b == -1) return wrapping_negative(a);  // avoids overflow of the smallest integer
    const T quotient = a / b;
    return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  }
};
struct FloorModFn {
  static float apply(float a, float b) { return a - std::floor(a / b) * b; }
  static double apply(double a, double b) { return a - std::floor(a / b) * b; }
  template <typename T>
  static T apply(T a, T b) {
    if (b == 0) invalid_argument("Integer division by zero.");
    if (b == -1) return 0;
    const T remainder = a % b;
    return remainder + (remainder != 0 && (remainder < 0) != (b < 0) ? b : 0);
  }
};

template <typename F>
KernelFactory numeric_binary_kernel() {
  return kernel_by_type<Elementwise<F>::template Binary, float, double, int32_t, int64_t>();
}

Grads add_gradient(Graph& g, Operation& op, const Outputs& dy) {
  return sum_to_operands(g, op, dy[0], dy[0]);
}

Grads sub_gradient(Graph& g, Operation& op, const Outputs& dy) {
  return sum_to_operands(g, op, dy[0], negative(g, dy[0]));
}

Grads mul_gradient(Graph& g, Operation& op, const Outputs& dy) {
  return sum_to_operands(g, op, multiply(g, dy[0], op.input(1)), multiply(g, dy[0], op.input(0)));
}

Grads div_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output da = divide(g, dy[0], op.input(1));
  const Output db = divide(g, multiply(g, negative(g, dy[0]), op.output(0)), op.input(1));
  return sum_to_operands(g, op, da, db);
}

Grads div_no_nan_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output b = op.input(1);
  const Output da = g.op("DivNoNan", {dy[0], b});
  const Output db = g.op("DivNoNan", {multiply(g, negative(g, dy[0]), op.output(0)), b});
  return sum_to_operands(g, op, da, db);
}

// Computes the gradient of Maximum and Minimum: the selected operand gets it; on ties, the first
// operand.
Grads selection_gradient(Graph& g, Operation& op, const Outputs& dy, const char* comparison) {
  const Output is_first_selected = g.op(comparison, {op.input(0), op.input(1)});
  const Output zeros = g.op("ZerosLike", {dy[0]});
  const Output da = g.op("SelectV2", {is_first_selected, dy[0], zeros});
  const Output db = g.op("SelectV2", {is_first_selected, zeros, dy[0]});
  return sum_to_operands(g, op, da, db);
}

Grads pow_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output a = op.input(0), b = op.input(1);
  const Output one = g.scalar(a.dtype(), 1), zero = g.scalar(a.dtype(), 0);
  const Output lower = g.op("Pow", {a, subtract(g, b, one)});
  const Output da = multiply(g, dy[0], multiply(g, b, lower));
  // Computes log(a) only where a > 0, so that the gradient of the exponent is 0 elsewhere, not NaN.
  const Output is_positive = g.op("Greater", {a, zero});
  const Output positive_base = g.op("SelectV2", {is_positive, a, one});
  const Output logs = g.op("SelectV2", {is_positive, g.op("Log", {positive_base}), zero});
  const Output db = multiply(g, dy[0], multiply(g, op.output(0), logs));
  return sum_to_operands(g, op, da, db);
}

Grads squared_difference_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output two = g.scalar(dy[0].dtype(), 2);
  const Output da = multiply(g, multiply(g, two, dy[0]), subtract(g, op.input(0), op.input(1)));
  return sum_to_operands(g, op, da, negative(g, da));
}

}  // namespace

#define RUNHOOKS_BINARY_OP(type) \
  RUNHOOKS_REGISTER_OP(type).input("x: T").input("y: T").output("z: T").shape(broadcast_shape)

RUNHOOKS_BINARY_OP("AddV2")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<AddFn>())
    .gradient(add_gradient)
    .endpoint("add")
    .summary("x + y, elementwise.")
    .example("f[2,3] f[2,3]")
    .example("f[2,3] f[3]")
    .example("f[2,1] f[1,3]")
    .example("f[] f[4]");

RUNHOOKS_BINARY_OP("Add")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<AddFn>())
    .gradient(add_gradient)
    .endpoint("raw_ops.Add")
    .summary("x + y, elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_BINARY_OP("Sub")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<SubFn>())
    .gradient(sub_gradient)
    .endpoint("subtract")
    .summary("x - y, elementwise.")
    .example("f[2,3] f[3]")
    .example("f[3] f[2,3]");

RUNHOOKS_BINARY_OP("Mul")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<MulFn>())
    .gradient(mul_gradient)
    .endpoint("multiply")
    .summary("x * y, elementwise.")
    .example("f[2,3] f[2,3]")
    .example("f[4,1,3] f[2,1]")
    .example("f[] f[2]");

RUNHOOKS_BINARY_OP("RealDiv")
    .attr("T: {float, double}")
    .kernel(float_binary_kernel<DivFn>())
    .gradient(div_gradient)
    .endpoint("realdiv")
    .summary("x / y for floating-point numbers, elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_BINARY_OP("DivNoNan")
    .attr("T: {float, double}")
    .kernel(float_binary_kernel<DivNoNanFn>())
    .gradient(div_no_nan_gradient)
    .endpoint("div_no_nan")
    .endpoint("math.divide_no_nan")
    .summary("x / y, but 0 where y is 0, elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_BINARY_OP("Maximum")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<MaximumFn>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) {
      return selection_gradient(g, op, dy, "GreaterEqual");
    })
    .summary("The larger of x and y, elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_BINARY_OP("Minimum")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<MinimumFn>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) {
      return selection_gradient(g, op, dy, "LessEqual");
    })
    .summary("The smaller of x and y, elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_BINARY_OP("Pow")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<PowFn>())
    .gradient(pow_gradient)
    .summary("x to the power of y, elementwise.")
    .example("p[2,3] p[3]");

RUNHOOKS_BINARY_OP("SquaredDifference")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<SquaredDifferenceFn>())
    .gradient(squared_difference_gradient)
    .summary("(x - y)^2, elementwise.")
    .example("f[2,3] f[2,3]")
    .example("f[2,3] f[1]");

RUNHOOKS_BINARY_OP("FloorDiv")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<FloorDivFn>())
    .not_differentiable()
    .endpoint("floordiv")
    .summary("The largest integer not above x / y, elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_BINARY_OP("FloorMod")
    .attr("T: numbertype")
    .kernel(numeric_binary_kernel<FloorModFn>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) {
      const Output quotient = g.op("FloorDiv", {op.input(0), op.input(1)});
      return sum_to_operands(g, op, dy[0], negative(g, multiply(g, dy[0], quotient)));
    })
    .endpoint("floormod")
    .endpoint("mod")
    .summary("x - floor(x / y) * y, elementwise: the sign is that of y.")
    .example("f[2,3] f[3]");

}  // namespace runhooks
