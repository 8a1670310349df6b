#include <algorithm>
#include <limits>

#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// Returns, for each axis of the input, whether it is in `axes`. Negative axes count from the end.
std::vector<bool> reduced_axes(const Tensor& axes, int rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (int64_t axis : axes.integers()) {
    const int64_t nonnegative = axis < 0 ? axis + rank : axis;
    if (nonnegative < 0 || nonnegative >= rank) {
      invalid_argument("Invalid reduction dimension ", axis, " for input with ", rank,
                       " dimensions.");
    }
    reduced[static_cast<size_t>(nonnegative)] = true;
  }
  return reduced;
}

void reduce_shape(ShapeContext& c) {
  const bool keep_dims = c.op().attr_bool("keep_dims");
  const Shape& input = c.input(0);
  const Tensor* axes = c.value(1);
  if (!input.has_rank() || !axes) {
    c.set_output(
        0, keep_dims && input.has_rank() ? Shape::unknown_of_rank(input.rank()) : Shape::unknown());
    return;
  }
  const std::vector<bool> reduced = reduced_axes(*axes, input.rank());
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    if (!reduced[static_cast<size_t>(i)])
      out.append(input.dim(i));
    else if (keep_dims)
      out.append(1);
  }
  c.set_output(0, out);
}

struct SumFn {
  // Sums float32 numbers in double, which is as accurate as TensorFlow's pairwise sums.
  template <typename T>
  using Accumulator = std::conditional_t<std::is_floating_point_v<T>, double, int64_t>;
  template <typename T>
  static Accumulator<T> initial() {
    return 0;
  }
  template <typename A>
  static A combine(A a, A b) {
    return wrapping_add(a, b);
  }
  template <typename T, typename A>
  static T finish(A a, int64_t) {
    return static_cast<T>(a);
  }
};
struct MeanFn : SumFn {
  template <typename T, typename A>
  static T finish(A a, int64_t n) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(a / static_cast<A>(n));
    return n == 0 ? 0 : static_cast<T>(a / n);
  }
};
struct ProdFn {
  template <typename T>
  using Accumulator = T;
  template <typename T>
  static T initial() {
    return 1;
  }
  template <typename T>
  static T combine(T a, T b) {
    return wrapping_multiply(a, b);
  }
  template <typename T, typename A>
  static T finish(A a, int64_t) {
    return a;
  }
};
struct MaxFn {
  template <typename T>
  using Accumulator = T;
  template <typename T>
  static T initial() {
    return std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T combine(T a, T b) {
    return a < b || b != b ? b : a;
  }
  template <typename T, typename A>
  static T finish(A a, int64_t) {
    return a;
  }
};
struct MinFn {
  template <typename T>
  using Accumulator = T;
  template <typename T>
  static T initial() {
    return std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity()
                                       : std::numeric_limits<T>::max();
  }
  template <typename T>
  static T combine(T a, T b) {
    return b < a || b != b ? b : a;
  }
  template <typename T, typename A>
  static T finish(A a, int64_t) {
    return a;
  }
};
struct AllFn {
  template <typename T>
  using Accumulator = bool;
  template <typename T>
  static bool initial() {
    return true;
  }
  static bool combine(bool a, bool b) { return a && b; }
  template <typename T, typename A>
  static T finish(A a, int64_t) {
    return a;
  }
};
struct AnyFn : AllFn {
  template <typename T>
  static bool initial() {
    return false;
  }
  static bool combine(bool a, bool b) { return a || b; }
};

// Reduces a tensor in one pass over the input, with one accumulator per output.
template <typename T, typename F>
class ReduceKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const std::vector<bool> reduced = reduced_axes(c.input_for_prepare(1), x.shape().rank());
    is_alias_ = std::is_same_v<F, SumFn> || std::is_same_v<F, MeanFn>
                    ? std::none_of(reduced.begin(), reduced.end(), [](bool r) { return r; })
                    : false;
    if (is_alias_) {
      c.alias_output(0, x.reshaped(c.inferred_shape));
      return;
    }
    c.allocate_output(0, dtype_of<T>(), c.inferred_shape);
    merge_axes(x.shape(), reduced);
    num_outputs_ = c.output(0).num_elements();
    num_reduced_ = num_outputs_ == 0 ? 0 : x.num_elements() / num_outputs_;
  }

  void compute(KernelContext& c) override {
    if (is_alias_) return;
    const T* x = c.input(0).template data<T>();
    T* y = c.output(0).template data<T>();
    if (num_outputs_ == 1 && num_reduced_ > 0) {
      y[0] = F::template finish<T>(reduce_contiguous(x, num_reduced_), num_reduced_);
      return;
    }
    accumulators_.assign(static_cast<size_t>(num_outputs_), {F::template initial<T>()});
    reduce_axis(x, 0, 0);
    for (int64_t i = 0; i < num_outputs_; ++i) {
      y[i] = F::template finish<T>(accumulators_[static_cast<size_t>(i)].value, num_reduced_);
    }
  }

 private:
  using A = typename F::template Accumulator<T>;
  struct Accumulated {  // a struct, because vector<bool> has no addressable elements
    A value;
  };
  struct Axis {
    int64_t size;
    int64_t y_stride;  // 0 for a reduced axis
  };

  // Merges adjacent axes that are all reduced or all preserved.
  void merge_axes(const Shape& shape, const std::vector<bool>& reduced) {
    axes_.clear();
    int64_t y_stride = 1;
    for (int i = shape.rank() - 1; i >= 0; --i) {
      const bool is_reduced = reduced[static_cast<size_t>(i)];
      const int64_t stride = is_reduced ? 0 : y_stride;
      if (!is_reduced) y_stride *= shape.dim(i);
      if (!axes_.empty() && (axes_.front().y_stride == 0) == is_reduced) {
        axes_.front().size *= shape.dim(i);
      } else {
        axes_.insert(axes_.begin(), Axis{shape.dim(i), stride});
      }
    }
  }

  // Reduces n contiguous elements in four partial results, which the processor computes in
  // parallel.
  static A reduce_contiguous(const T* x, int64_t n) {
    A partial[4] = {F::template initial<T>(), F::template initial<T>(), F::template initial<T>(),
                    F::template initial<T>()};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
      for (int k = 0; k < 4; ++k) partial[k] = F::combine(partial[k], static_cast<A>(x[i + k]));
    }
    for (; i < n; ++i) partial[0] = F::combine(partial[0], static_cast<A>(x[i]));
    return F::combine(F::combine(partial[0], partial[1]), F::combine(partial[2], partial[3]));
  }

  // Adds the elements of an input block, which has the axes from `axis` on, to the outputs from `y`
  // on. Returns the end of the block.
  const T* reduce_axis(const T* x, size_t axis, int64_t y) {
    const Axis& a = axes_[axis];
    const bool is_last = axis + 1 == axes_.size();
    if (is_last && a.y_stride == 0) {
      Accumulated& cell = accumulators_[static_cast<size_t>(y)];
      cell.value = F::combine(cell.value, reduce_contiguous(x, a.size));
      return x + a.size;
    }
    for (int64_t i = 0; i < a.size; ++i) {
      if (is_last) {
        Accumulated& cell = accumulators_[static_cast<size_t>(y + i * a.y_stride)];
        cell.value = F::combine(cell.value, static_cast<A>(*x++));
      } else {
        x = reduce_axis(x, axis + 1, y + i * a.y_stride);
      }
    }
    return x;
  }

  bool is_alias_ = false;
  int64_t num_outputs_ = 0, num_reduced_ = 0;
  std::vector<Axis> axes_;
  std::vector<Accumulated> accumulators_;
};

template <typename F>
struct ReduceKernels {
  template <typename T>
  using Kernel = ReduceKernel<T, F>;
};

template <typename F>
KernelFactory numeric_reduction_kernel() {
  return kernel_by_type<ReduceKernels<F>::template Kernel, float, double, int32_t, int64_t>();
}

// Restores the reduced axes of dy, with size 1.
Output with_reduced_axes(Graph& g, Operation& op, Output dy) {
  if (op.attr_bool("keep_dims")) return dy;
  const Output x = op.input(0), axes = op.input(1);
  const bool is_known = axes.op->type() == "Const" && x.shape().has_rank();
  if (is_known) {
    const std::vector<bool> reduced =
        reduced_axes(axes.op->attr<Tensor>("value"), x.shape().rank());
    for (size_t i = 0; i < reduced.size(); ++i) {
      if (reduced[i]) {
        dy = g.op("ExpandDims", {dy, g.scalar(DType::kInt32, static_cast<double>(i))});
      }
    }
    return dy;
  }
  const Output zero = g.scalar(DType::kInt32, 0), one = g.scalar(DType::kInt32, 1);
  const Output rank = g.op("Rank", {x});
  const Output nonnegative = g.op("FloorMod", {add(g, axes, rank), rank});
  const Output all_axes = g.op("Range", {zero, rank, one});
  const Output ones = g.op("Fill", {shape_of(g, axes), one});
  const Output shape_with_ones =
      g.op("DynamicStitch", {all_axes, nonnegative, shape_of(g, x), ones}).attr("N", 2);
  return g.op("Reshape", {dy, shape_with_ones});
}

// Broadcasts a reduced tensor to the shape of the input.
Output broadcast_to_input(Graph& g, Operation& op, Output dy) {
  return g.op("BroadcastTo", {with_reduced_axes(g, op, dy), shape_of(g, op.input(0))});
}

Grads sum_gradient(Graph& g, Operation& op, const Outputs& dy) {
  return {broadcast_to_input(g, op, dy[0]), Gradient()};
}

Grads mean_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output n_in = g.op("Size", {op.input(0)}), n_out = g.op("Size", {op.output(0)});
  const Output factor =
      g.op("FloorDiv", {n_in, g.op("Maximum", {n_out, g.scalar(DType::kInt32, 1)})});
  return {divide(g, broadcast_to_input(g, op, dy[0]), cast(g, factor, dy[0].dtype())), Gradient()};
}

// If several elements are the extremum, each gets an equal fraction of the gradient.
Grads extremum_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output is_extremum = g.op("Equal", {op.input(0), broadcast_to_input(g, op, op.output(0))});
  const Output indicator = cast(g, is_extremum, dy[0].dtype());
  const Output count = g.op("Sum", {indicator, op.input(1)}).attr("keep_dims", true);
  return {multiply(g, divide(g, indicator, count), broadcast_to_input(g, op, dy[0])), Gradient()};
}

// Multiplies the gradient by the product of all other elements. A division of the whole product by
// the element would fail for 0. So the reduced axes are moved to the front and merged, and the
// exclusive cumulative products from both ends are multiplied.
Grads prod_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), zero = g.scalar(DType::kInt32, 0), one = g.scalar(DType::kInt32, 1);
  const Output rank = g.op("Rank", {x}), shape = shape_of(g, x);
  const Output axes = g.op("Reshape", {cast(g, op.input(1), DType::kInt32), g.int_vector({-1})});
  const Output reduced = g.op("FloorMod", {add(g, axes, rank), rank});
  const Output other_axes = g.op("ListDiff", {g.op("Range", {zero, rank, one}), reduced});
  const Output order = g.op("ConcatV2", {reduced, other_axes, zero});
  auto count = [&](Output axes_subset) -> Output {
    return g.op("Prod", {g.op("GatherV2", {shape, axes_subset, zero}), g.int_vector({0})});
  };
  const Output reduced_axes_first = g.op("Transpose", {x, order});
  const Output dims = g.op("Pack", {count(reduced), count(other_axes)});
  const Output matrix = g.op("Reshape", {reduced_axes_first, dims});
  auto products = [&](bool reverse) -> Output {
    return g.op("Cumprod", {matrix, zero}).attr("exclusive", true).attr("reverse", reverse);
  };
  const Output product = multiply(g, products(false), products(true));
  const Output restored =
      g.op("Transpose", {g.op("Reshape", {product, shape_of(g, reduced_axes_first)}),
                         g.op("InvertPermutation", {order})});
  const Output result = multiply(g, broadcast_to_input(g, op, dy[0]), restored);
  return {g.op("Reshape", {result, shape}), Gradient()};
}

}  // namespace

#define RUNHOOKS_REDUCTION(type)                   \
  RUNHOOKS_REGISTER_OP(type)                       \
      .input("input: T")                           \
      .input("reduction_indices: Tidx, rank <= 1") \
      .output("output: T")                         \
      .attr("keep_dims: bool = false")             \
      .attr("T: numbertype")                       \
      .attr("Tidx: {int32, int64} = DT_INT32")     \
      .shape(reduce_shape)                         \
      .may_forward()

RUNHOOKS_REDUCTION("Sum")
    .kernel(numeric_reduction_kernel<SumFn>())
    .gradient(sum_gradient)
    .summary("The sum along axes.")
    .example("f[2,3] i{0}")
    .example("f[2,3] i{0,1}")
    .example("f[2,3] i{}")
    .example("f[4,3,2] i{-1,0} | keep_dims=true")
    .example("f[4,3,2] i{1}");
RUNHOOKS_REDUCTION("Mean")
    .kernel(numeric_reduction_kernel<MeanFn>())
    .gradient(mean_gradient)
    .summary("The mean along axes.")
    .example("f[2,3] i{0}")
    .example("f[2,3] i{0,1}")
    .example("f[4,3,2] i{1} | keep_dims=true");
RUNHOOKS_REDUCTION("Max")
    .kernel(numeric_reduction_kernel<MaxFn>())
    .gradient(extremum_gradient)
    .summary("The maximum along axes.")
    .example("f[2,3] i{1}");
RUNHOOKS_REDUCTION("Min")
    .kernel(numeric_reduction_kernel<MinFn>())
    .gradient(extremum_gradient)
    .summary("The minimum along axes.")
    .example("f[2,3] i{1}");
RUNHOOKS_REDUCTION("Prod")
    .kernel(numeric_reduction_kernel<ProdFn>())
    .gradient(prod_gradient)
    .summary("The product along axes.")
    .example("f[2,3] i{1}")
    .example("f[2,3,2] i{2,-3} | keep_dims=true");

#define RUNHOOKS_LOGICAL_REDUCTION(type)           \
  RUNHOOKS_REGISTER_OP(type)                       \
      .input("input: bool")                        \
      .input("reduction_indices: Tidx, rank <= 1") \
      .output("output: bool")                      \
      .attr("keep_dims: bool = false")             \
      .attr("Tidx: {int32, int64} = DT_INT32")     \
      .shape(reduce_shape)                         \
      .may_forward()                               \
      .not_differentiable()                        \
      .example("b[2,3] i{1}")

RUNHOOKS_LOGICAL_REDUCTION("All")
    .kernel(kernel_of<ReduceKernel<bool, AllFn>>())
    .summary("Whether all elements along axes are TRUE.");
RUNHOOKS_LOGICAL_REDUCTION("Any")
    .kernel(kernel_of<ReduceKernel<bool, AnyFn>>())
    .summary("Whether any element along axes is TRUE.");

}  // namespace runhooks
