#include "ops/array/index_reader.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

struct Addition {
  template <typename T>
  static constexpr T initial = T(0);
  template <typename T>
  static T apply(T a, T b) {
    return wrapping_add(a, b);
  }
};
struct Multiplication {
  template <typename T>
  static constexpr T initial = T(1);
  template <typename T>
  static T apply(T a, T b) {
    return wrapping_multiply(a, b);
  }
};

template <typename T, typename Operator>
class ScanKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int axis = read_axis(c.input_for_prepare(1), shape.rank());
    exclusive_ = c.op().attr_bool("exclusive");
    reverse_ = c.op().attr_bool("reverse");
    outer_ = inner_ = 1;
    for (int i = 0; i < axis; ++i) outer_ *= shape.dim(i);
    for (int i = axis + 1; i < shape.rank(); ++i) inner_ *= shape.dim(i);
    n_ = shape.dim(axis);
  }
  void compute(KernelContext& c) override {
    if (n_ == 0) return;
    const T* x = c.input(0).template data<T>();
    T* y = c.output(0).template data<T>();
    for (int64_t o = 0; o < outer_; ++o) {
      for (int64_t k = 0; k < inner_; ++k) {
        const int64_t first = o * n_ * inner_ + k + (reverse_ ? (n_ - 1) * inner_ : 0);
        scan(x + first, y + first, reverse_ ? -inner_ : inner_);
      }
    }
  }

 private:
  void scan(const T* x, T* y, int64_t step) const {
    T total = Operator::template initial<T>;
    for (int64_t i = 0; i < n_; ++i) {
      const T next = Operator::apply(total, x[i * step]);
      y[i * step] = exclusive_ ? total : next;
      total = next;
    }
  }

  int64_t outer_ = 1, n_ = 0, inner_ = 1;
  bool exclusive_ = false, reverse_ = false;
};

template <typename T>
using CumsumKernel = ScanKernel<T, Addition>;
template <typename T>
using CumprodKernel = ScanKernel<T, Multiplication>;

// Computes the cumulative sum in the opposite direction, which is the gradient of Cumsum.
Output reverse_cumsum(Graph& g, Operation& op, Output d) {
  return g.op("Cumsum", {d, op.input(1)})
      .attr("exclusive", op.attr_bool("exclusive"))
      .attr("reverse", !op.attr_bool("reverse"));
}

Grads cumsum_gradient(Graph& g, Operation& op, const Outputs& dy) {
  return {reverse_cumsum(g, op, dy[0]), Gradient()};
}

// The gradient is NaN where x is 0, as in TensorFlow.
Grads cumprod_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output sums = reverse_cumsum(g, op, multiply(g, op.output(0), dy[0]));
  return {divide(g, sums, op.input(0)), Gradient()};
}

void scan_shape(ShapeContext& c) {
  const Tensor* axis = c.value(1);
  if (axis && c.input(0).has_rank()) read_axis(*axis, c.input(0).rank());
  c.set_output(0, c.input(0));
}

}  // namespace

#define RUNHOOKS_SCAN(type, example_input)     \
  RUNHOOKS_REGISTER_OP(type)                   \
      .input("x: T")                           \
      .input("axis: Tidx, scalar")             \
      .output("out: T")                        \
      .attr("exclusive: bool = false")         \
      .attr("reverse: bool = false")           \
      .attr("T: numbertype")                   \
      .attr("Tidx: {int32, int64} = DT_INT32") \
      .shape(scan_shape)                       \
      .example(example_input " i:1")           \
      .example(example_input " i:-2 | exclusive=true reverse=true")

RUNHOOKS_SCAN("Cumsum", "f[3,4]")
    .kernel(kernel_by_type<CumsumKernel, float, double, int32_t, int64_t>())
    .gradient(cumsum_gradient)
    .endpoint("raw_ops.Cumsum")
    .summary("The cumulative sum along an axis.");

RUNHOOKS_SCAN("Cumprod", "p[3,4]")
    .kernel(kernel_by_type<CumprodKernel, float, double, int32_t, int64_t>())
    .gradient(cumprod_gradient)
    .endpoint("raw_ops.Cumprod")
    .summary("The cumulative product along an axis.");

}  // namespace runhooks
