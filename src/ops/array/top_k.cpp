#include <algorithm>
#include <limits>

#include "base/cancellation.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

int64_t checked_reduction_axis(const Tensor& axis, int rank) {
  const int64_t argument = axis.integers()[0];
  const int64_t axis_index = argument < 0 ? argument + rank : argument;
  if (axis_index < 0 || axis_index >= rank) {
    invalid_argument("Expected dimension in the range [", -rank, ", ", rank, "), but got ",
                     argument, ".");
  }
  return axis_index;
}

template <typename T, bool kLargest>
class ArgExtremumKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    if (c.output(0).dtype() == DType::kInt64) {
      find_indices(c, c.output(0).template data<int64_t>());
    } else {
      find_indices(c, c.output(0).template data<int32_t>());
    }
  }

 private:
  template <typename Index>
  void find_indices(KernelContext& c, Index* y) {
    const Shape& shape = c.input(0).shape();
    const auto axis = static_cast<int>(checked_reduction_axis(c.input(1), shape.rank()));
    int64_t inner = 1, outer = 1;
    for (int i = 0; i < axis; ++i) outer *= shape.dim(i);
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
    const int64_t n = shape.dim(axis);
    if (n == 0 && outer * inner > 0) {
      invalid_argument("Reduction axis ", axis, " is empty in shape ", shape, ".");
    }
    const T* x = c.input(0).data<T>();
    for (int64_t o = 0; o < outer; ++o, x += n * inner) {
      for (int64_t i = 0; i < inner; ++i)
        *y++ = static_cast<Index>(extremum_index(x + i, n, inner));
    }
  }
  // Returns the index of the extremum. As in TensorFlow, NaN is never selected; the result is 0 if
  // all elements are NaN.
  static int64_t extremum_index(const T* x, int64_t n, int64_t stride) {
    int64_t best = 0;
    T value = kLargest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    for (int64_t j = 0; j < n; ++j) {
      const T candidate = x[j * stride];
      if (kLargest ? candidate > value : candidate < value) {
        best = j;
        value = candidate;
      }
    }
    return best;
  }
};
template <typename T>
using ArgMaxKernel = ArgExtremumKernel<T, true>;
template <typename T>
using ArgMinKernel = ArgExtremumKernel<T, false>;

void arg_shape(ShapeContext& c) {
  const Shape& input = c.input(0);
  const Tensor* axis = c.value(1);
  if (!input.has_rank()) return c.set_output(0, Shape::unknown());
  if (!axis) return c.set_output(0, Shape::unknown_of_rank(std::max(input.rank() - 1, 0)));
  const int64_t reduced_axis = checked_reduction_axis(*axis, input.rank());
  Shape out;
  for (int i = 0; i < input.rank(); ++i) {
    if (i != reduced_axis) out.append(input.dim(i));
  }
  c.set_output(0, out);
}

// Sorts in descending order. NaN is below all numbers, because sorting needs a total order.
template <typename T>
bool sorts_before(T a, T b) {
  return a > b || (b != b && a == a);
}

template <typename T>
class TopKKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    const int64_t k = c.output(0).shape().dim(shape.rank() - 1);
    const int64_t rows = n == 0 ? 0 : c.input(0).num_elements() / n;
    const T* x = c.input(0).data<T>();
    T* values = c.output(0).template data<T>();
    int32_t* indices = c.output(1).template data<int32_t>();
    order_.resize(static_cast<size_t>(n));
    uint32_t comparisons = 0;
    for (int64_t r = 0; r < rows; ++r, x += n, values += k, indices += k) {
      for (int64_t j = 0; j < n; ++j) order_[static_cast<size_t>(j)] = static_cast<int32_t>(j);
      // On ties the lower index comes first.
      std::partial_sort(order_.begin(), order_.begin() + k, order_.end(),
                        [x, &comparisons](int32_t a, int32_t b) {
                          if (++comparisons % (1 << 16) == 0) check_cancelled();
                          return sorts_before(x[a], x[b]) || (!sorts_before(x[b], x[a]) && a < b);
                        });
      for (int64_t j = 0; j < k; ++j) {
        indices[j] = order_[static_cast<size_t>(j)];
        values[j] = x[indices[j]];
      }
    }
  }

 private:
  std::vector<int32_t> order_;
};

void top_k_shape(ShapeContext& c) {
  const Shape& input = c.input(0);
  if (!input.has_rank()) return;
  const Tensor* k = c.value(1);
  Shape out = input;
  const int64_t count = k ? k->integers()[0] : Shape::kUnknownDim;
  const int64_t width = input.dim(input.rank() - 1);
  if (k && width >= 0 && count > width) {
    invalid_argument("input must have at least k columns. Had ", width, ", needed ", count, ".");
  }
  out.set_dim(out.rank() - 1, count);
  c.set_output(0, out);
  c.set_output(1, out);
}

// Adds the gradients of the values at their positions in the input.
Grads top_k_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), one = g.scalar(x.dtype(), 1), zero = g.scalar(x.dtype(), 0);
  const int rank = x.shape().rank();
  const Output width = g.op("Slice", {shape_of(g, x), g.int_vector({rank - 1}), g.int_vector({1})});
  const Output depth = g.op("Reshape", {width, g.int_vector({})});
  const Output one_hot = g.op("OneHot", {op.output(1), depth, one, zero});
  const Output column = g.op("ExpandDims", {dy[0], g.scalar(DType::kInt32, -1)});
  return {g.op("Sum", {multiply(g, one_hot, column), g.int_vector({-2})}), Gradient()};
}

class InTopKKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t n = c.input(0).shape().dim(1), rows = c.input(0).shape().dim(0);
    const int64_t k = c.input(2).integers()[0];
    const float* x = c.input(0).data<float>();
    const std::vector<int64_t> targets = c.input(1).integers();
    bool* y = c.output(0).data<bool>();
    for (int64_t r = 0; r < rows; ++r, x += n) {
      const int64_t target = targets[static_cast<size_t>(r)];
      bool is_valid = target >= 0 && target < n;
      int64_t num_greater = 0;
      for (int64_t j = 0; is_valid && j < n; ++j) {
        is_valid = x[j] - x[j] == 0;  // neither NaN nor infinite
        if (x[j] > x[target]) ++num_greater;
      }
      y[r] = is_valid && num_greater < k;
    }
  }
};

}  // namespace

#define RUNHOOKS_ARG_OP(type)                         \
  RUNHOOKS_REGISTER_OP(type)                          \
      .input("input: T")                              \
      .input("dimension: Tidx, scalar")               \
      .output("output: output_type")                  \
      .attr("T: numbertype")                          \
      .attr("Tidx: {int32, int64} = DT_INT32")        \
      .attr("output_type: {int32, int64} = DT_INT64") \
      .shape(arg_shape)                               \
      .not_differentiable()                           \
      .endpoint("raw_ops." type)                      \
      .example("f[2,3] i:1")                          \
      .example("f[2,3,2] i:-2 | output_type=int32")

RUNHOOKS_ARG_OP("ArgMax")
    .r("arg_max(input, dimension, output_type = 'int64', name = NULL)")
    .kernel(kernel_by_type<ArgMaxKernel, float, double, int32_t, int64_t>())
    .summary("The index of the largest element along an axis; the first of several.");
RUNHOOKS_ARG_OP("ArgMin")
    .r("arg_min(input, dimension, output_type = 'int64', name = NULL)")
    .kernel(kernel_by_type<ArgMinKernel, float, double, int32_t, int64_t>())
    .summary("The index of the smallest element along an axis; the first of several.");

RUNHOOKS_REGISTER_OP("TopKV2")
    .input("input: T, rank >= 1")
    .input("k: int32, scalar, >= 0")
    .output("values: T")
    .output("indices: int32")
    .attr("sorted: bool = true")
    .attr("T: numbertype")
    .shape(top_k_shape)
    .kernel(kernel_by_type<TopKKernel, float, double, int32_t, int64_t>())
    .gradient(top_k_gradient)
    .endpoint("raw_ops.TopKV2")
    .summary("The k largest elements of the last dimension, in decreasing order.")
    .example("f[3,5] i:2")
    .example("f[4] i:4");

RUNHOOKS_REGISTER_OP("InTopKV2")
    .input("predictions: float, rank 2")
    .input("targets: T, vector")
    .input("k: T, scalar")
    .output("precision: bool")
    .attr("T: {int32, int64} = DT_INT32")
    .shape([](ShapeContext& c) {
      const Shape rows{c.with_rank(0, 2).dim(0)};
      c.set_output(0, rows.merge_with(c.with_rank(1, 1)));
    })
    .kernel(kernel_of<InTopKKernel>())
    .not_differentiable()
    .endpoint("raw_ops.InTopKV2")
    .summary("Whether the target of each row is among its k largest predictions.")
    .example("e[2,3] i{0,4} i:1");

}  // namespace runhooks
