#include "ops/math/quiet_math.h"

#include <cmath>

#include "ops/math/elementwise.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// lambda and lambda * alpha of the SELU activation (Klambauer et al. 2017).
constexpr double kSeluScale = 1.0507009873554804934193349852946;
constexpr double kSeluScaleAlpha = 1.7580993408473768599402175208123;

// In gradient functions, `a` and `b` are the inputs of the op in TensorFlow's order. As in
// TensorFlow, the result of NaN is NaN.
RUNHOOKS_UNARY_FN(ReluFn, x < T(0) ? T(0) : x);
RUNHOOKS_UNARY_FN(Relu6Fn, x < T(0) ? T(0) : (x > T(6) ? T(6) : x));
RUNHOOKS_UNARY_FN(EluFn, x < T(0) ? std::expm1(x) : x);
RUNHOOKS_UNARY_FN(SeluFn, x < T(0) ? T(kSeluScaleAlpha) * std::expm1(x) : T(kSeluScale) * x);
RUNHOOKS_UNARY_FN(SoftplusFn, softplus_of(x));
RUNHOOKS_UNARY_FN(SoftsignFn, x / (T(1) + (x < T(0) ? -x : x)));

// Computes a product like TensorFlow, so that NaN and infinity propagate even if the derivative is
// 0.
RUNHOOKS_BINARY_FN(ReluGradFn, a*(b > T(0) ? T(1) : T(0)));
RUNHOOKS_BINARY_FN(Relu6GradFn, a*(b > T(0) && b < T(6) ? T(1) : T(0)));
RUNHOOKS_BINARY_FN(EluGradFn, b < T(0) ? a * (b + T(1)) : a);
RUNHOOKS_BINARY_FN(SeluGradFn, b < T(0) ? a * (b + T(kSeluScaleAlpha)) : a * T(kSeluScale));
RUNHOOKS_BINARY_FN(SoftsignGradFn,
                   a / ((T(1) + (b < T(0) ? -b : b)) * (T(1) + (b < T(0) ? -b : b))));
RUNHOOKS_BINARY_FN(SigmoidGradFn, b* a*(T(1) - a));
RUNHOOKS_BINARY_FN(TanhGradFn, b*(T(1) - a * a));

template <typename T>
class LeakyReluKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const T alpha = c.op().attr<float>("alpha");
    const T* x = c.input(0).data<T>();
    T* y = c.output(0).template data<T>();
    for_elements<T>(c.input(0).num_elements(),
                    [=](int64_t i) { y[i] = x[i] < T(0) ? alpha * x[i] : x[i]; });
  }
};

template <typename T>
class LeakyReluGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const T alpha = c.op().attr<float>("alpha");
    const T *d = c.input(0).data<T>(), *x = c.input(1).data<T>();
    T* y = c.output(0).template data<T>();
    for_elements<T>(c.input(0).num_elements(),
                    [=](int64_t i) { y[i] = x[i] > T(0) ? d[i] : alpha * d[i]; });
  }
};

void merged_shape(ShapeContext& c) { c.set_output(0, c.input(0).merge_with(c.input(1))); }

// Return gradient functions that add the op `type`. Its inputs are dy and the original input, or dy
// and the original output.
GradientFn activation_grad_of_input(const char* type) {
  return [type](Graph& g, Operation& op, const Outputs& dy) -> Grads {
    return {g.op(type, {dy[0], op.input(0)})};
  };
}
GradientFn activation_grad_of_output(const char* type) {
  return [type](Graph& g, Operation& op, const Outputs& dy) -> Grads {
    return {g.op(type, {dy[0], op.output(0)})};
  };
}

// Returns the gradient function of a gradient op, for second derivatives. The first input of the op
// is the incoming gradient, in which the op is linear.
GradientFn second_derivative(
    const char* type, std::function<Gradient(Graph&, Operation&, Output)> second_input_gradient) {
  return [type, second_input_gradient](Graph& g, Operation& op, const Outputs& dy) -> Grads {
    return {g.op(type, {dy[0], op.input(1)}), second_input_gradient(g, op, dy[0])};
  };
}

Gradient zero_second_derivative(Graph& g, Operation& op, Output) {
  return g.op("ZerosLike", {op.input(1)});
}

// For Elu and Selu: returns d times the incoming gradient where the output is negative, else 0.
Gradient elu_second_derivative(Graph& g, Operation& op, Output d) {
  const Output product = multiply(g, d, op.input(0));
  const Output is_negative = g.op("Less", {op.input(1), number(g, d, 0)});
  return g.op("SelectV2", {is_negative, product, g.op("ZerosLike", {product})});
}

// Computes the second derivative of log(1 + e^x). Uses the same operations as TensorFlow, for
// identical bits.
Gradient softplus_second_derivative(Graph& g, Operation& op, Output d) {
  const Output a = op.input(0), e = g.op("Exp", {negative(g, g.op("Abs", {op.input(1)}))});
  const Output sigmoid = g.op("Reciprocal", {add(g, e, number(g, e, 1))});
  const Output grad_of_sigmoid = multiply(g, a, multiply(g, d, e));
  const Output grad_of_e = multiply(g, d, multiply(g, a, sigmoid));
  return multiply(g, add(g, grad_of_e, g.op("ReciprocalGrad", {sigmoid, grad_of_sigmoid})), e);
}

template <typename T>
class SoftplusGradKernel : public Kernel {
 public:
  bool uses_threads() const override { return is_parallel_loop<T>(n_); }
  void prepare(KernelContext& c) override {
    a_ = c.input(0).data<T>();
    x_ = c.input(1).data<T>();
    y_ = c.output(0).template data<T>();
    n_ = c.output(0).num_elements();
  }
  void compute(KernelContext&) override {
    const T *a = a_, *x = x_;
    T* y = y_;
    const auto compute_element = [=](int64_t i, T e) { y[i] = sigmoid_times(a[i], x[i], e); };
    parallel_for_vectors(
        n_, [=](int64_t i) { compute_element(i, exp_nonpositive(x[i] < 0 ? x[i] : -x[i])); },
        [=](int64_t i) { compute_element(i, std::exp(x[i] < 0 ? x[i] : -x[i])); });
  }

 private:
  const T *a_ = nullptr, *x_ = nullptr;
  T* y_ = nullptr;
  int64_t n_ = 0;
};

Gradient softsign_second_derivative(Graph& g, Operation& op, Output d) {
  const Output x = op.input(1);
  const Output scale = add(g, number(g, x, 1), g.op("Abs", {x}));
  const Output cube = multiply(g, scale, multiply(g, scale, scale));
  const Output factor = divide(g, multiply(g, number(g, x, -2), g.op("Sign", {x})), cube);
  return multiply(g, multiply(g, d, op.input(0)), factor);
}

}  // namespace

#define RUNHOOKS_ACTIVATION(type) \
  RUNHOOKS_REGISTER_OP(type)      \
      .input("features: T")       \
      .output("activations: T")   \
      .attr("T: {float, double}") \
      .shape(unchanged_shape)     \
      .example("f[2,3]")

#define RUNHOOKS_ACTIVATION_GRAD(type, second) \
  RUNHOOKS_REGISTER_OP(type)                   \
      .input("gradients: T")                   \
      .input(second ": T")                     \
      .output("backprops: T")                  \
      .attr("T: {float, double}")              \
      .shape(merged_shape)                     \
      .endpoint("raw_ops." type)               \
      .example("f[2,3] f[2,3]")

RUNHOOKS_ACTIVATION("Relu")
    .kernel(float_unary_kernel<ReluFn>())
    .gradient(activation_grad_of_output("ReluGrad"))
    .endpoint("nn.relu")
    .summary("max(x, 0), elementwise.");
RUNHOOKS_ACTIVATION_GRAD("ReluGrad", "features")
    .kernel(float_binary_kernel<ReluGradFn>())
    .gradient(second_derivative("ReluGrad", zero_second_derivative))
    .summary("The gradient of Relu.");

RUNHOOKS_ACTIVATION("Relu6")
    .kernel(float_unary_kernel<Relu6Fn>())
    .gradient(activation_grad_of_output("Relu6Grad"))
    .endpoint("nn.relu6")
    .summary("min(max(x, 0), 6), elementwise.");
RUNHOOKS_ACTIVATION_GRAD("Relu6Grad", "features")
    .kernel(float_binary_kernel<Relu6GradFn>())
    .gradient(second_derivative("Relu6Grad", zero_second_derivative))
    .summary("The gradient of Relu6.");

RUNHOOKS_ACTIVATION("Elu")
    .kernel(float_unary_kernel<EluFn>())
    .gradient(activation_grad_of_output("EluGrad"))
    .endpoint("nn.elu")
    .summary("exp(x) - 1 where x is negative, else x.");
RUNHOOKS_ACTIVATION_GRAD("EluGrad", "outputs")
    .kernel(float_binary_kernel<EluGradFn>())
    .gradient(second_derivative("EluGrad", elu_second_derivative))
    .summary("The gradient of Elu.");

RUNHOOKS_ACTIVATION("Selu")
    .kernel(float_unary_kernel<SeluFn>())
    .gradient(activation_grad_of_output("SeluGrad"))
    .endpoint("nn.selu")
    .summary("The scaled exponential linear function, which keeps mean 0 and variance 1.");
RUNHOOKS_ACTIVATION_GRAD("SeluGrad", "outputs")
    .kernel(float_binary_kernel<SeluGradFn>())
    .gradient(second_derivative("SeluGrad", elu_second_derivative))
    .summary("The gradient of Selu.");

RUNHOOKS_ACTIVATION("Softplus")
    .kernel(float_unary_kernel<SoftplusFn>())
    .gradient(activation_grad_of_input("SoftplusGrad"))
    .endpoint("nn.softplus")
    .endpoint("math.softplus")
    .summary("log(exp(x) + 1), elementwise.");
RUNHOOKS_ACTIVATION_GRAD("SoftplusGrad", "features")
    .kernel(kernel_by_type<SoftplusGradKernel, float, double>())
    .gradient(second_derivative("SoftplusGrad", softplus_second_derivative))
    .summary("The gradient of Softplus.");

RUNHOOKS_ACTIVATION("Softsign")
    .kernel(float_unary_kernel<SoftsignFn>())
    .gradient(activation_grad_of_input("SoftsignGrad"))
    .endpoint("nn.softsign")
    .endpoint("math.softsign")
    .summary("x / (abs(x) + 1), elementwise.");
RUNHOOKS_ACTIVATION_GRAD("SoftsignGrad", "features")
    .kernel(float_binary_kernel<SoftsignGradFn>())
    .gradient(second_derivative("SoftsignGrad", softsign_second_derivative))
    .summary("The gradient of Softsign.");

RUNHOOKS_ACTIVATION("LeakyRelu")
    .attr("alpha: float = 0.2")
    .kernel(kernel_by_type<LeakyReluKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("LeakyReluGrad", {dy[0], op.input(0)}).attr("alpha", op.attr<float>("alpha"))};
    })
    .endpoint("nn.leaky_relu")
    .summary("x where it is positive, else alpha * x.")
    .example("f[2,3] | alpha=0.05");
RUNHOOKS_ACTIVATION_GRAD("LeakyReluGrad", "features")
    .attr("alpha: float = 0.2")
    .kernel(kernel_by_type<LeakyReluGradKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("LeakyReluGrad", {dy[0], op.input(1)}).attr("alpha", op.attr<float>("alpha")),
              g.op("ZerosLike", {op.input(1)})};
    })
    .summary("The gradient of LeakyRelu.");

#define RUNHOOKS_OUTPUT_GRAD(type) \
  RUNHOOKS_REGISTER_OP(type)       \
      .input("y: T")               \
      .input("dy: T")              \
      .output("z: T")              \
      .attr("T: {float, double}")  \
      .shape(merged_shape)         \
      .endpoint("raw_ops." type)   \
      .example("f[2,3] f[2,3]")

RUNHOOKS_OUTPUT_GRAD("SigmoidGrad")
    .kernel(float_binary_kernel<SigmoidGradFn>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output y = op.input(0), d = multiply(g, dy[0], op.input(1));
      const Output two_y = multiply(g, number(g, y, 2), y);
      return {multiply(g, d, subtract(g, number(g, y, 1), two_y)), g.op("SigmoidGrad", {y, dy[0]})};
    })
    .summary("The gradient of Sigmoid, y being its output.");
RUNHOOKS_OUTPUT_GRAD("TanhGrad")
    .kernel(float_binary_kernel<TanhGradFn>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output y = op.input(0), d = multiply(g, dy[0], op.input(1));
      return {multiply(g, d, multiply(g, number(g, y, -2), y)), g.op("TanhGrad", {y, dy[0]})};
    })
    .summary("The gradient of Tanh, y being its output.");

}  // namespace runhooks
