#include <algorithm>
#include <cmath>

#include "base/parallel_for.h"
#include "ops/math/elementwise.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

#define RUNHOOKS_COMPARISON(name, expression) \
  struct name {                               \
    template <typename T>                     \
    static bool apply(T a, T b) {             \
      return expression;                      \
    }                                         \
  }

RUNHOOKS_COMPARISON(EqualFn, a == b);
RUNHOOKS_COMPARISON(NotEqualFn, a != b);
RUNHOOKS_COMPARISON(LessFn, a < b);
RUNHOOKS_COMPARISON(LessEqualFn, a <= b);
RUNHOOKS_COMPARISON(GreaterFn, a > b);
RUNHOOKS_COMPARISON(GreaterEqualFn, a >= b);
RUNHOOKS_COMPARISON(AndFn, a&& b);
RUNHOOKS_COMPARISON(OrFn, a || b);

#undef RUNHOOKS_COMPARISON

struct NotFn {
  static bool apply(bool x) { return !x; }
};
struct IsNanFn {
  template <typename T>
  static bool apply(T x) {
    return std::isnan(x);
  }
};
struct IsInfFn {
  template <typename T>
  static bool apply(T x) {
    return std::isinf(x);
  }
};
struct IsFiniteFn {
  template <typename T>
  static bool apply(T x) {
    return std::isfinite(x);
  }
};

template <typename F>
struct Comparison {
  template <typename T>
  using Kernel = BinaryKernel<T, bool, F>;
};
template <typename F>
struct Predicate {
  template <typename T>
  using Kernel = UnaryKernel<T, bool, F>;
};

template <typename F>
KernelFactory comparison_kernel() {
  return kernel_by_type<Comparison<F>::template Kernel, float, double, int32_t, int64_t, bool>();
}

// Compares strings. If both tensors have the same dictionary, compares codes.
template <bool kEqual>
class StringEqualKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    layout_ = broadcast_layout(c.input(0).shape(), c.input(1).shape(), c.output(0).shape());
  }
  void compute(KernelContext& c) override {
    const Tensor &a = c.input(0), &b = c.input(1);
    if (layout_.n == 0) return;
    const auto* a_codes = a.data<int32_t>();
    const auto* b_codes = b.data<int32_t>();
    if (a.dictionary() == b.dictionary()) {
      run(c, [=](int64_t i, int64_t j) { return a_codes[i] == b_codes[j]; });
    } else {
      run(c, [&](int64_t i, int64_t j) { return a.string_at(i) == b.string_at(j); });
    }
  }

 private:
  template <typename IsEqual>
  void run(KernelContext& c, IsEqual is_equal) const {
    bool* z = c.output(0).template data<bool>();
    const int64_t blocks = layout_.n / layout_.inner;
    for (int64_t block = 0; block < blocks; ++block) {
      const auto k = static_cast<size_t>(block);
      int64_t i = layout_.a_offsets.empty() ? 0 : layout_.a_offsets[k];
      int64_t j = layout_.b_offsets.empty() ? 0 : layout_.b_offsets[k];
      for (int64_t n = layout_.inner; n > 0; --n, i += layout_.a_step, j += layout_.b_step) {
        *z++ = is_equal(i, j) == kEqual;
      }
    }
  }

  BroadcastLayout layout_;
};

template <typename F, bool kEqual>
KernelFactory equality_kernel() {
  return [numbers = comparison_kernel<F>()](const Operation& op) -> std::unique_ptr<Kernel> {
    if (op.attr_type("T") != DType::kString) return numbers(op);
    return std::make_unique<StringEqualKernel<kEqual>>();
  };
}

template <typename F>
KernelFactory ordering_kernel() {
  return kernel_by_type<Comparison<F>::template Kernel, float, double, int32_t, int64_t>();
}

template <typename F>
KernelFactory predicate_kernel() {
  return kernel_by_type<Predicate<F>::template Kernel, float, double>();
}

// Returns the shape with which the condition is broadcast. The condition of Select has the shape of
// the operands, or is a scalar, or a vector with one element per row. SelectV2 broadcasts its
// condition.
Shape condition_shape(const Operation& op, const Shape& condition, int rank) {
  Shape shape = condition;
  if (op.type() != "Select" || shape.rank() != 1) return shape;
  while (shape.rank() < rank) shape.append(1);
  return shape;
}

template <typename T>
class SelectKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const Shape& out = c.output(0).shape();
    const Shape condition = condition_shape(c.op(), c.input(0).shape(), out.rank());
    positions_.clear();
    if (condition == out && c.input(1).shape() == out && c.input(2).shape() == out) return;
    positions_.push_back(positions(condition, out));
    for (int i = 1; i < 3; ++i) positions_.push_back(positions(c.input(i).shape(), out));
  }
  void compute(KernelContext& c) override {
    select(c, c.input(1).template data<T>(), c.input(2).template data<T>());
  }

 protected:
  void select(KernelContext& c, const T* x, const T* y) const {
    const bool* condition = c.input(0).template data<bool>();
    T* z = c.output(0).template data<T>();
    const int64_t n = c.output(0).num_elements();
    if (positions_.empty()) {
      parallel_for_range(n, [&](int64_t first, int64_t count) {
        for (int64_t i = first; i < first + count; ++i) {
          // Branch-free, because the condition is unpredictable.
          const T choices[] = {y[i], x[i]};
          z[i] = choices[condition[i] ? 1 : 0];
        }
      });
      return;
    }
    for (int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      z[i] = condition[positions_[0][k]] ? x[positions_[1][k]] : y[positions_[2][k]];
    }
  }

 private:
  // Returns, for each element of the output, the position of its element in the operand.
  static std::vector<int64_t> positions(const Shape& operand, const Shape& out) {
    const BroadcastLayout layout = broadcast_layout(operand, out, out);
    std::vector<int64_t> positions_of_operand;
    for (int64_t block = 0; block < layout.n / std::max<int64_t>(layout.inner, 1); ++block) {
      const int64_t offset =
          layout.a_offsets.empty() ? 0 : layout.a_offsets[static_cast<size_t>(block)];
      for (int64_t i = 0; i < layout.inner; ++i)
        positions_of_operand.push_back(offset + i * layout.a_step);
    }
    return positions_of_operand;
  }
  std::vector<std::vector<int64_t>> positions_;
};

class StringSelectKernel : public SelectKernel<int32_t> {
 public:
  void compute(KernelContext& c) override {
    const Tensor &x = c.input(1), &y = c.input(2);
    auto dictionary = x.dictionary();
    if (dictionary == y.dictionary()) {
      select(c, x.data<int32_t>(), y.data<int32_t>());
    } else {
      dictionary = std::make_shared<StringDictionary>();
      const std::vector<int32_t> x_codes = codes_in_dictionary(*dictionary, x),
                                 y_codes = codes_in_dictionary(*dictionary, y);
      select(c, x_codes.data(), y_codes.data());
    }
    c.output(0).set_dictionary(dictionary);
  }

 private:
  static std::vector<int32_t> codes_in_dictionary(StringDictionary& dictionary,
                                                  const Tensor& strings) {
    std::vector<int32_t> codes;
    for (int64_t i = 0; i < strings.num_elements(); ++i) {
      codes.push_back(dictionary.code(strings.string_at(i)));
    }
    return codes;
  }
};

std::unique_ptr<Kernel> make_select_kernel(const Operation& op) {
  if (op.attr_type("T") == DType::kString) return std::make_unique<StringSelectKernel>();
  return kernel_by_type<SelectKernel, float, double, int32_t, int64_t, bool, uint8_t>()(op);
}

void select_shape(ShapeContext& c) {
  const Shape x = c.input(1).merge_with(c.input(2));
  const Shape& condition = c.input(0);
  if (x.has_rank() && condition.has_rank() && condition.rank() > 0) {
    Shape expected = x;
    if (condition.rank() == 1 && x.rank() > 1) expected = Shape{x.dim(0)};
    if (!condition.is_compatible_with(expected)) {
      invalid_argument("The condition of shape ", condition,
                       " fits neither the elements nor the "
                       "rows of operands of shape ",
                       x, ".");
    }
  }
  c.set_output(0, x);
}

}  // namespace

#define RUNHOOKS_COMPARISON_OP(type) \
  RUNHOOKS_REGISTER_OP(type)         \
      .input("x: T")                 \
      .input("y: T")                 \
      .output("z: bool")             \
      .shape(broadcast_shape)        \
      .not_differentiable()          \
      .example("f[2,3] f[3]")

RUNHOOKS_COMPARISON_OP("Equal")
    .attr("T: {float, double, int32, int64, bool, string}")
    .kernel(equality_kernel<EqualFn, true>())
    .example("s{a,b,} s{b,b,}")
    .example("s{a,b} s:b")
    .summary("x == y, elementwise.");
RUNHOOKS_COMPARISON_OP("NotEqual")
    .attr("T: {float, double, int32, int64, bool, string}")
    .kernel(equality_kernel<NotEqualFn, false>())
    .example("s{a,b,} s{b,b,}")
    .example("s{a,b} s:b")
    .summary("x != y, elementwise.");
RUNHOOKS_COMPARISON_OP("Less")
    .attr("T: numbertype")
    .kernel(ordering_kernel<LessFn>())
    .summary("x < y, elementwise.");
RUNHOOKS_COMPARISON_OP("LessEqual")
    .attr("T: numbertype")
    .kernel(ordering_kernel<LessEqualFn>())
    .summary("x <= y, elementwise.");
RUNHOOKS_COMPARISON_OP("Greater")
    .attr("T: numbertype")
    .kernel(ordering_kernel<GreaterFn>())
    .summary("x > y, elementwise.");
RUNHOOKS_COMPARISON_OP("GreaterEqual")
    .attr("T: numbertype")
    .kernel(ordering_kernel<GreaterEqualFn>())
    .summary("x >= y, elementwise.");

RUNHOOKS_REGISTER_OP("LogicalAnd")
    .input("x: bool")
    .input("y: bool")
    .output("z: bool")
    .shape(broadcast_shape)
    .kernel(kernel_of<BinaryKernel<bool, bool, AndFn>>())
    .not_differentiable()
    .summary("x and y, elementwise.")
    .example("b[2,3] b[3]");

RUNHOOKS_REGISTER_OP("LogicalOr")
    .input("x: bool")
    .input("y: bool")
    .output("z: bool")
    .shape(broadcast_shape)
    .kernel(kernel_of<BinaryKernel<bool, bool, OrFn>>())
    .not_differentiable()
    .summary("x or y, elementwise.")
    .example("b[2,3] b[3]");

RUNHOOKS_REGISTER_OP("LogicalNot")
    .input("x: bool")
    .output("y: bool")
    .shape(unchanged_shape)
    .kernel(kernel_of<UnaryKernel<bool, bool, NotFn>>())
    .not_differentiable()
    .summary("not x, elementwise.")
    .example("b[2,3]");

#define RUNHOOKS_PREDICATE_OP(type) \
  RUNHOOKS_REGISTER_OP(type)        \
      .input("x: T")                \
      .output("y: bool")            \
      .attr("T: {float, double}")   \
      .shape(unchanged_shape)       \
      .not_differentiable()         \
      .example("f[2,3]")

RUNHOOKS_PREDICATE_OP("IsNan")
    .kernel(predicate_kernel<IsNanFn>())
    .summary("Whether x is NaN, elementwise.");
RUNHOOKS_PREDICATE_OP("IsInf")
    .kernel(predicate_kernel<IsInfFn>())
    .summary("Whether x is infinite, elementwise.");
RUNHOOKS_PREDICATE_OP("IsFinite")
    .kernel(predicate_kernel<IsFiniteFn>())
    .summary("Whether x is finite, elementwise.");

RUNHOOKS_REGISTER_OP("Select")
    .input("condition: bool")
    .input("t: T")
    .input("e: T")
    .output("output: T")
    .attr("T: type")
    .shape(select_shape)
    .kernel(make_select_kernel)
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output zeros = g.op("ZerosLike", {dy[0]});
      return {Gradient(), g.op("Select", {op.input(0), dy[0], zeros}),
              g.op("Select", {op.input(0), zeros, dy[0]})};
    })
    .r("raw_ops.Select(condition, x as t, y as e, name = NULL)")
    .summary("Elements or rows of t where the condition holds, else of e.")
    .example("b[2,3] f[2,3] f[2,3]")
    .example("b[2] f[2,3] f[2,3]")
    .example("b[] f[2,3] f[2,3]");

RUNHOOKS_REGISTER_OP("SelectV2")
    .input("condition: bool")
    .input("t: T")
    .input("e: T")
    .output("output: T")
    .attr("T: type")
    .shape([](ShapeContext& c) {
      c.set_output(0, broadcast_shapes(c.input(0), broadcast_shapes(c.input(1), c.input(2))));
    })
    .kernel(make_select_kernel)
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output zeros = g.op("ZerosLike", {dy[0]});
      const Output dx = g.op("SelectV2", {op.input(0), dy[0], zeros});
      const Output dz = g.op("SelectV2", {op.input(0), zeros, dy[0]});
      auto reduce = [&](Output grad, Output operand) -> Gradient {
        const Output shape = shape_of(g, operand);
        Operation* args = g.op("BroadcastGradientArgs", {shape, shape_of(g, grad)});
        const Output sum = g.op("Sum", {grad, args->output(0)});
        return g.op("Reshape", {sum, shape});
      };
      return {Gradient(), reduce(dx, op.input(1)), reduce(dz, op.input(2))};
    })
    .r("where_v2(condition, x as t = NULL, y as e = NULL, name = NULL)")
    .summary("Elements of t where the condition holds, else of e.")
    .example("b[2,3] f[2,3] f[2,3]")
    .example("b[2,1] f[3] f[]");

}  // namespace runhooks
