// Less common elementwise functions: trigonometric and hyperbolic functions, their inverses, and
// the gamma function with related functions. The other functions are in math_unary.cpp.
#include "ops/math/quiet_math.h"

#include <array>
#include <cmath>
#include <limits>

#include "ops/math/elementwise.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

constexpr double kPi = 3.14159265358979323846;

// Computes the derivative of log(gamma(x)). Uses an asymptotic series for x >= 10. The recurrence
// digamma(x) = digamma(x + 1) - 1 / x extends it to smaller x.
double digamma(double x) {
  if (std::isnan(x)) return x;
  if (std::isinf(x)) return x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
  double result = 0;
  if (x <= 0) {
    if (x == std::floor(x)) return std::numeric_limits<double>::quiet_NaN();
    return digamma(1 - x) - kPi / std::tan(kPi * x);
  }
  for (; x < 10; x += 1) result -= 1 / x;
  const double r = 1 / (x * x);
  const double series =
      r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132)))));
  return result + std::log(x) - 0.5 / x - series;
}

// Computes the sum over k >= 0 of 1 / (q + k)^x, by the Euler-Maclaurin formula.
double zeta(double x, double q) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(x) || std::isnan(q) || x < 1) return nan;
  if (x == 1) return std::numeric_limits<double>::infinity();
  if (q <= 0) {
    if (q == std::floor(q)) return std::numeric_limits<double>::infinity();
    if (x != std::floor(x)) return nan;
  }
  // B(2k) / (2k)!, where B are the Bernoulli numbers.
  constexpr std::array<double, 8> kBernoulli = {0.08333333333333333,    -0.001388888888888889,
                                                3.306878306878307e-05,  -8.267195767195768e-07,
                                                2.08767569878681e-08,   -5.284190138687493e-10,
                                                1.3382536530684679e-11, -3.3896802963225827e-13};
  double sum = 0;
  double a = q;
  for (; a < 12; a += 1) sum += std::pow(a, -x);
  sum += std::pow(a, 1 - x) / (x - 1) + 0.5 * std::pow(a, -x);
  double factor = x * std::pow(a, -x - 1);
  for (size_t k = 0; k < kBernoulli.size(); ++k) {
    const double term = kBernoulli[k] * factor;
    sum += term;
    if (std::fabs(term) < 1e-17 * std::fabs(sum)) break;
    const auto j = static_cast<double>(2 * k + 1);
    factor *= (x + j) * (x + j + 1) / (a * a);
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n != std::floor(n) || n < 0) return std::numeric_limits<double>::quiet_NaN();
  if (n == 0) return digamma(x);
  const double sign = std::fmod(n, 2) == 0 ? -1 : 1;
  return sign * std::exp(std::lgamma(n + 1)) * zeta(n + 1, x);
}

RUNHOOKS_UNARY_FN(TanFn, std::tan(x));
RUNHOOKS_UNARY_FN(AsinFn, std::asin(x));
RUNHOOKS_UNARY_FN(AcosFn, std::acos(x));
RUNHOOKS_UNARY_FN(AtanFn, std::atan(x));
RUNHOOKS_UNARY_FN(SinhFn, std::sinh(x));
RUNHOOKS_UNARY_FN(CoshFn, std::cosh(x));
RUNHOOKS_UNARY_FN(AsinhFn, std::asinh(x));
RUNHOOKS_UNARY_FN(AcoshFn, std::acosh(x));
RUNHOOKS_UNARY_FN(AtanhFn, std::atanh(x));
RUNHOOKS_UNARY_FN(Expm1Fn, std::expm1(x));
RUNHOOKS_UNARY_FN(RintFn, std::nearbyint(x));
RUNHOOKS_UNARY_FN(DigammaFn, digamma(static_cast<double>(x)));

// std::lgamma() writes the sign to a global variable. The data race is harmless, because nothing
// reads the sign.
struct LgammaFn {
  template <typename T>
  static T apply(T x) {
    return std::lgamma(x);
  }
};

RUNHOOKS_BINARY_FN(Atan2Fn, std::atan2(a, b));
RUNHOOKS_BINARY_FN(ZetaFn, zeta(static_cast<double>(a), static_cast<double>(b)));
RUNHOOKS_BINARY_FN(PolygammaFn, polygamma(static_cast<double>(a), static_cast<double>(b)));
RUNHOOKS_BINARY_FN(XlogyFn, a == T(0) ? T(0) : a * std::log(b));
RUNHOOKS_BINARY_FN(XdivyFn, a == T(0) ? T(0) : a / b);
RUNHOOKS_BINARY_FN(MulNoNanFn, b == T(0) ? T(0) : a * b);

Output square(Graph& g, Output x) { return g.op("Square", {x}); }
Output inverse(Graph& g, Output x) { return g.op("Reciprocal", {x}); }
Output rsqrt(Graph& g, Output x) { return g.op("Rsqrt", {x}); }
Output one_minus(Graph& g, Output x) { return subtract(g, number(g, x, 1), x); }
Output one_plus(Graph& g, Output x) { return add(g, number(g, x, 1), x); }

Grads atan2_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output y = op.input(0), x = op.input(1);
  const Output grad_over_norm = divide(g, dy[0], add(g, square(g, x), square(g, y)));
  return sum_to_operands(g, op, multiply(g, x, grad_over_norm),
                         multiply(g, negative(g, y), grad_over_norm));
}

Grads zeta_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), q = op.input(1);
  const Output derivative = multiply(g, negative(g, x), g.op("Zeta", {one_plus(g, x), q}));
  return sum_to_operands(g, op, Gradient(), multiply(g, dy[0], derivative));
}

Grads polygamma_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output derivative = g.op("Polygamma", {one_plus(g, op.input(0)), op.input(1)});
  return sum_to_operands(g, op, Gradient(), multiply(g, dy[0], derivative));
}

// Returns 1 where x is not 0, else 0. In the gradients of Xlogy and Xdivy, it takes the place of x,
// so that the gradient is 0 where x is 0.
Output is_nonzero(Graph& g, Output x) {
  return cast(g, g.op("NotEqual", {x, number(g, x, 0)}), x.dtype());
}

Grads xlogy_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), y = op.input(1);
  const Output dx = g.op("Xlogy", {is_nonzero(g, x), y}), derivative = g.op("Xdivy", {x, y});
  return sum_to_operands(g, op, multiply(g, dy[0], dx), multiply(g, dy[0], derivative));
}

Grads xdivy_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), y = op.input(1);
  const Output dx = g.op("Xdivy", {is_nonzero(g, x), y});
  const Output derivative = g.op("Xdivy", {negative(g, x), square(g, y)});
  return sum_to_operands(g, op, multiply(g, dy[0], dx), multiply(g, dy[0], derivative));
}

Grads mul_no_nan_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), y = op.input(1);
  return sum_to_operands(g, op, g.op("MulNoNan", {dy[0], y}), g.op("MulNoNan", {x, dy[0]}));
}

}  // namespace

#define RUNHOOKS_SPECIAL_UNARY_OP(type) \
  RUNHOOKS_REGISTER_OP(#type)           \
      .input("x: T")                    \
      .output("y: T")                   \
      .attr("T: {float, double}")       \
      .shape(unchanged_shape)           \
      .kernel(float_unary_kernel<type##Fn>())

RUNHOOKS_SPECIAL_UNARY_OP(Tan)
    .gradient(chain_rule([](Graph& g, Output, Output y) { return one_plus(g, square(g, y)); }))
    .summary("The tangent of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Asin)
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return rsqrt(g, one_minus(g, square(g, x)));
    }))
    .summary("The arc sine of x, elementwise.")
    .example("u[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Acos)
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return negative(g, rsqrt(g, one_minus(g, square(g, x))));
    }))
    .summary("The arc cosine of x, elementwise.")
    .example("u[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Atan)
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return inverse(g, one_plus(g, square(g, x)));
    }))
    .summary("The arc tangent of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Sinh)
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output { return g.op("Cosh", {x}); }))
    .summary("The hyperbolic sine of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Cosh)
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output { return g.op("Sinh", {x}); }))
    .summary("The hyperbolic cosine of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Asinh)
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return rsqrt(g, one_plus(g, square(g, x)));
    }))
    .summary("The inverse hyperbolic sine of x, elementwise.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Acosh)
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return rsqrt(g, subtract(g, square(g, x), number(g, x, 1)));
    }))
    .summary("The inverse hyperbolic cosine of x, elementwise.")
    .example("o[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Atanh)
    .gradient(chain_rule([](Graph& g, Output x, Output) {
      return inverse(g, one_minus(g, square(g, x)));
    }))
    .summary("The inverse hyperbolic tangent of x, elementwise.")
    .example("u[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Expm1)
    .gradient(chain_rule([](Graph& g, Output, Output y) { return one_plus(g, y); }))
    .summary("exp(x) - 1, elementwise, accurate for x near 0.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Rint)
    .not_differentiable()
    .summary("The nearest integer, rounding half to even, elementwise.")
    .example("f[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Lgamma)
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output { return g.op("Digamma", {x}); }))
    .summary("The logarithm of the absolute value of the gamma function, elementwise.")
    .example("p[2,3]");

RUNHOOKS_SPECIAL_UNARY_OP(Digamma)
    .gradient(chain_rule([](Graph& g, Output x, Output) -> Output {
      return g.op("Polygamma", {number(g, x, 1), x});
    }))
    .summary("The derivative of Lgamma, elementwise.")
    .example("p[2,3]");

#define RUNHOOKS_SPECIAL_BINARY_OP(type, a, b) \
  RUNHOOKS_REGISTER_OP(#type)                  \
      .input(a ": T")                          \
      .input(b ": T")                          \
      .output("z: T")                          \
      .attr("T: {float, double}")              \
      .shape(broadcast_shape)                  \
      .kernel(float_binary_kernel<type##Fn>())

RUNHOOKS_SPECIAL_BINARY_OP(Atan2, "y", "x")
    .gradient(atan2_gradient)
    .summary("The angle of the point (x, y), elementwise.")
    .example("f[2,3] f[3]");

RUNHOOKS_SPECIAL_BINARY_OP(Zeta, "x", "q")
    .gradient(zeta_gradient)
    .summary("The sum of (q + k)^-x over k from 0, elementwise.")
    .example("n{2,3} p[2]");

RUNHOOKS_SPECIAL_BINARY_OP(Polygamma, "a", "x")
    .gradient(polygamma_gradient)
    .summary("The derivative of order a of Digamma, elementwise.")
    .example("n{1,2} p[2]");

RUNHOOKS_SPECIAL_BINARY_OP(Xlogy, "x", "y")
    .gradient(xlogy_gradient)
    .endpoint("math.xlogy")
    .summary("x * log(y), 0 where x is 0, elementwise.")
    .example("f[2,3] p[3]");

RUNHOOKS_SPECIAL_BINARY_OP(Xdivy, "x", "y")
    .gradient(xdivy_gradient)
    .endpoint("math.xdivy")
    .summary("x / y, 0 where x is 0, elementwise.")
    .example("f[2,3] p[3]");

RUNHOOKS_SPECIAL_BINARY_OP(MulNoNan, "x", "y")
    .gradient(mul_no_nan_gradient)
    .r("math.multiply_no_nan(x, y, name = NULL)")
    .summary("x * y, 0 where y is 0, elementwise.")
    .example("f[2,3] f[3]");

}  // namespace runhooks
