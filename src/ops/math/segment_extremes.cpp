#include <limits>

#include "ops/math/integer_math.h"
#include "ops/math/segment.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

struct Maximum {
  template <typename T>
  static T initial() {
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T combine(T a, T b) {
    return a < b || b != b ? b : a;
  }
};
struct Minimum {
  template <typename T>
  static T initial() {
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  static T combine(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
struct Product {
  template <typename T>
  static T initial() {
    return T(1);
  }
  template <typename T>
  static T combine(T a, T b) {
    return wrapping_multiply(a, b);
  }
};

// Combines the rows of each segment, beginning with Combiner::initial(). `num_rows` becomes the
// number of rows of each segment.
template <typename T, typename Combiner>
void combine_rows(const Tensor& x,
                  const Indices& ids,
                  Tensor& out,
                  std::vector<int64_t>& num_rows) {
  const int64_t n = out.shape().dim(0);
  const int64_t width = ids.size() > 0 ? x.num_elements() / ids.size() : 0;
  T* y = out.data<T>();
  std::fill(y, y + out.num_elements(), Combiner::template initial<T>());
  num_rows.assign(static_cast<size_t>(n), 0);
  const T* row = x.data<T>();
  for (int64_t i = 0; i < ids.size(); ++i, row += width) {
    if (ids[i] < 0) continue;  // TensorFlow ignores negative ids
    const int64_t segment = ids.checked(i, n);
    ++num_rows[static_cast<size_t>(segment)];
    T* to = y + segment * width;
    for (int64_t j = 0; j < width; ++j) to[j] = Combiner::combine(to[j], row[j]);
  }
}

template <typename T, typename Combiner>
class UnsortedSegmentKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    combine_rows<T, Combiner>(c.input(0), Indices(c.input(1)), c.output(0), num_rows_);
  }

 private:
  std::vector<int64_t> num_rows_;
};

// Combines rows whose segment ids are sorted. The result of an empty segment is 0, or 1 for
// products.
template <typename T, typename Combiner>
class SortedSegmentKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices ids(c.input(1));
    Shape shape = x.shape();
    shape.set_dim(0, count_segments(ids));
    Tensor& out = c.allocate_output(0, x.dtype(), shape);
    combine_rows<T, Combiner>(x, ids, out, num_rows_);
    if (std::is_same_v<Combiner, Product> || num_rows_.empty()) return;
    const int64_t width = out.num_elements() / static_cast<int64_t>(num_rows_.size());
    for (size_t k = 0; k < num_rows_.size(); ++k) {
      T* row = out.data<T>() + static_cast<int64_t>(k) * width;
      if (num_rows_[k] == 0) std::fill(row, row + width, T(0));
    }
  }

 private:
  std::vector<int64_t> num_rows_;
};

template <typename T>
class SegmentMeanKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices ids(c.input(1));
    Shape shape = x.shape();
    shape.set_dim(0, count_segments(ids));
    Tensor& out = c.allocate_output(0, x.dtype(), shape);
    std::fill(out.data<T>(), out.data<T>() + out.num_elements(), T(0));
    const int64_t width = ids.size() > 0 ? x.num_elements() / ids.size() : 0;
    for (int64_t begin = 0, end = 0; begin < ids.size(); begin = end) {
      T* to = out.data<T>() + ids[begin] * width;
      for (; end < ids.size() && ids[end] == ids[begin]; ++end) {
        for (int64_t j = 0; j < width; ++j) to[j] += x.data<T>()[end * width + j];
      }
      for (int64_t j = 0; j < width; ++j) to[j] /= static_cast<T>(end - begin);
    }
  }
};

Output num_segments_of(Graph& g, Operation& op) {
  if (op.inputs().size() > 2) return op.input(2);
  const Output first =
      g.op("Slice", {shape_of(g, op.output(0)), g.int_vector({0}), g.int_vector({1})});
  return g.op("Reshape", {first, g.int_vector({})});
}

Grads gradient_of_data(Operation& op, Output dx) {
  Grads grads(op.inputs().size());
  grads[0] = dx;
  return grads;
}

// If several elements of a segment are the extremum, each gets an equal fraction of the gradient.
Grads segment_extremum_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0);
  Output is_extremum = g.op("Equal", {x, rows_of_segments(g, op, op.output(0))});
  is_extremum = cast(g, is_extremum, x.dtype());
  const Output count =
      g.op("UnsortedSegmentSum", {is_extremum, op.input(1), num_segments_of(g, op)});
  const Output fraction = rows_of_segments(g, op, g.op("DivNoNan", {dy[0], count}));
  return gradient_of_data(op, multiply(g, is_extremum, fraction));
}

// The derivative of an element is the product of the other elements of the segment. If the segment
// has one zero, only the derivative of the zero is nonzero; if it has several, all derivatives are
// 0.
Grads segment_product_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), zero = g.scalar(x.dtype(), 0), n = num_segments_of(g, op);
  const Output is_zero = g.op("Equal", {x, zero});
  const Output zeros =
      g.op("UnsortedSegmentSum", {cast(g, is_zero, DType::kInt32), op.input(1), n});
  const Output has_at_most_one_zero = g.op("Greater", {g.scalar(DType::kInt32, 2), zeros});
  const Output grad = g.op("SelectV2", {has_at_most_one_zero, dy[0], g.op("ZerosLike", {dy[0]})});
  const Output nonzero_factors = g.op("SelectV2", {is_zero, ones_like(g, x), x});
  const Output nonzero_product =
      rows_of_segments(g, op, g.op("UnsortedSegmentProd", {nonzero_factors, op.input(1), n}));
  const Output product = rows_of_segments(g, op, op.output(0));
  const Output other_product =
      g.op("SelectV2", {is_zero, nonzero_product, divide(g, product, nonzero_factors)});
  return gradient_of_data(op, multiply(g, rows_of_segments(g, op, grad), other_product));
}

template <typename Combiner>
struct SegmentKernels {
  template <typename T>
  using Sorted = SortedSegmentKernel<T, Combiner>;
  template <typename T>
  using Unsorted = UnsortedSegmentKernel<T, Combiner>;
};

}  // namespace

#define RUNHOOKS_SORTED_OP(type, kernel_class, ...)        \
  RUNHOOKS_REGISTER_OP(type)                               \
      .input("data: T, rank >= 1")                         \
      .input("segment_ids: Tindices, vector")              \
      .output("output: T")                                 \
      .attr("T: {float, double, int32, int64}")            \
      .attr("Tindices: {int32, int64}")                    \
      .shape(segment_shape)                                \
      .kernel(kernel_by_type<kernel_class, __VA_ARGS__>()) \
      .allocates_outputs()                                 \
      .example("f[4,2] i{0,0,1,3}")

#define RUNHOOKS_UNSORTED_OP(type, kernel_class)                               \
  RUNHOOKS_REGISTER_OP(type)                                                   \
      .input("data: T")                                                        \
      .input("segment_ids: Tindices")                                          \
      .input("num_segments: Tnumsegments, scalar, >= 0")                       \
      .output("output: T")                                                     \
      .attr("T: {float, double, int32, int64}")                                \
      .attr("Tindices: {int32, int64}")                                        \
      .attr("Tnumsegments: {int32, int64} = DT_INT32")                         \
      .shape(unsorted_segment_shape)                                           \
      .kernel(kernel_by_type<kernel_class, float, double, int32_t, int64_t>()) \
      .example("f[4,2] i{2,0,1,0} i:3")

#define RUNHOOKS_ALL_NUMBERS float, double, int32_t, int64_t

RUNHOOKS_SORTED_OP("SegmentMax", SegmentKernels<Maximum>::Sorted, RUNHOOKS_ALL_NUMBERS)
    .gradient(segment_extremum_gradient)
    .endpoint("segment_max")
    .endpoint("math.segment_max")
    .summary("The maximum of the rows of each segment; segment ids are sorted.");
RUNHOOKS_SORTED_OP("SegmentMin", SegmentKernels<Minimum>::Sorted, RUNHOOKS_ALL_NUMBERS)
    .gradient(segment_extremum_gradient)
    .endpoint("segment_min")
    .endpoint("math.segment_min")
    .summary("The minimum of the rows of each segment; segment ids are sorted.");
RUNHOOKS_SORTED_OP("SegmentProd", SegmentKernels<Product>::Sorted, RUNHOOKS_ALL_NUMBERS)
    .gradient(segment_product_gradient)
    .endpoint("segment_prod")
    .endpoint("math.segment_prod")
    .summary("The product of the rows of each segment; segment ids are sorted.");

RUNHOOKS_REGISTER_OP("SegmentMean")
    .input("data: T, rank >= 1")
    .input("segment_ids: Tindices, vector")
    .output("output: T")
    .attr("T: {float, double}")
    .attr("Tindices: {int32, int64}")
    .shape(segment_shape)
    .kernel(kernel_by_type<SegmentMeanKernel, float, double>())
    .allocates_outputs()
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output ones = g.op("Fill", {shape_of(g, op.input(1)), g.scalar(dy[0].dtype(), 1)});
      Output count = g.op("SegmentSum", {ones, op.input(1)});
      for (int i = 1; i < op.input(0).shape().rank(); ++i) {
        count = g.op("ExpandDims", {count, g.scalar(DType::kInt32, -1)});
      }
      return gradient_of_data(op, rows_of_segments(g, op, g.op("DivNoNan", {dy[0], count})));
    })
    .endpoint("segment_mean")
    .endpoint("math.segment_mean")
    .summary("The mean of the rows of each segment; segment ids are sorted.")
    .example("f[4,2] i{0,0,1,3}");

RUNHOOKS_UNSORTED_OP("UnsortedSegmentMax", SegmentKernels<Maximum>::Unsorted)
    .gradient(segment_extremum_gradient)
    .endpoint("unsorted_segment_max")
    .endpoint("math.unsorted_segment_max")
    .summary("The maximum of the rows of each segment.");
RUNHOOKS_UNSORTED_OP("UnsortedSegmentMin", SegmentKernels<Minimum>::Unsorted)
    .gradient(segment_extremum_gradient)
    .endpoint("unsorted_segment_min")
    .endpoint("math.unsorted_segment_min")
    .summary("The minimum of the rows of each segment.");
RUNHOOKS_UNSORTED_OP("UnsortedSegmentProd", SegmentKernels<Product>::Unsorted)
    .gradient(segment_product_gradient)
    .endpoint("unsorted_segment_prod")
    .endpoint("math.unsorted_segment_prod")
    .summary("The product of the rows of each segment.");

}  // namespace runhooks
