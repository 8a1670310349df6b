#include <limits>

#include "ops/array/index_reader.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

struct Largest {
  template <typename T>
  static T first() {
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T combine(T a, T b) {
    return a < b || b != b ? b : a;
  }
};
struct Smallest {
  template <typename T>
  static T first() {
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  static T combine(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
struct Product {
  template <typename T>
  static T first() {
    return T(1);
  }
  template <typename T>
  static T combine(T a, T b) {
    return wrapping_multiply(a, b);
  }
};

// The number of segments: the last of the sorted ids plus one.
int64_t segments_of(const Indices& ids) {
  for (int64_t i = 1; i < ids.size(); ++i) {
    if (ids[i] < ids[i - 1]) invalid_argument("segment ids are not increasing.");
  }
  if (ids.size() > 0 && ids[0] < 0) invalid_argument("segment ids must be >= 0.");
  return ids.size() == 0 ? 0 : sum_of_dims(ids[ids.size() - 1], 1);
}

// Combines rows into outputs initialized with How::first(); `given` counts the rows of each
// segment.
template <typename T, typename How>
void combine(const Tensor& x, const Indices& ids, Tensor& out, std::vector<int64_t>& given) {
  const int64_t n = out.shape().dim(0);
  const int64_t width = ids.size() > 0 ? x.num_elements() / ids.size() : 0;
  T* y = out.data<T>();
  std::fill(y, y + out.num_elements(), How::template first<T>());
  given.assign(static_cast<size_t>(n), 0);
  const T* row = x.data<T>();
  for (int64_t i = 0; i < ids.size(); ++i, row += width) {
    if (ids[i] < 0) continue;  // TensorFlow drops negative ids
    const int64_t segment = ids.checked(i, n);
    ++given[static_cast<size_t>(segment)];
    T* to = y + segment * width;
    for (int64_t j = 0; j < width; ++j) to[j] = How::combine(to[j], row[j]);
  }
}

template <typename T, typename How>
class UnsortedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    combine<T, How>(c.input(0), Indices(c.input(1)), c.output(0), given_);
  }

 private:
  std::vector<int64_t> given_;
};

// Empty segments are 0, or 1 for products.
template <typename T, typename How>
class SortedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices ids(c.input(1));
    Shape shape = x.shape();
    shape.set_dim(0, segments_of(ids));
    Tensor& out = c.allocate_output(0, x.dtype(), shape);
    combine<T, How>(x, ids, out, given_);
    if (std::is_same_v<How, Product> || given_.empty()) return;
    const int64_t width = out.num_elements() / static_cast<int64_t>(given_.size());
    for (size_t k = 0; k < given_.size(); ++k) {
      T* row = out.data<T>() + static_cast<int64_t>(k) * width;
      if (given_[k] == 0) std::fill(row, row + width, T(0));
    }
  }

 private:
  std::vector<int64_t> given_;
};

template <typename T>
class SegmentMeanKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices ids(c.input(1));
    Shape shape = x.shape();
    shape.set_dim(0, segments_of(ids));
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

void sorted_shape(ShapeContext& c) {
  Shape out = c.input(0);
  const Shape ids = c.with_rank(1, 1);
  if (!out.has_rank()) return c.set_output(0, out);
  if (!Shape{out.dim(0)}.is_compatible_with(ids)) {
    invalid_argument("segment_ids must have as many elements as there are rows, ", out.dim(0),
                     "; got ", ids.dim(0), ".");
  }
  const Tensor* segments = c.value(1);
  out.set_dim(0, segments ? segments_of(Indices(*segments)) : -1);
  c.set_output(0, out);
}

void unsorted_shape(ShapeContext& c) {
  const Shape &x = c.input(0), &ids = c.input(1);
  const Tensor* count = c.value(2);
  if (!x.has_rank() || !ids.has_rank()) return c.set_output(0, Shape::unknown());
  bool begins = x.rank() >= ids.rank();
  for (int i = 0; begins && i < ids.rank(); ++i) {
    begins = Shape{x.dim(i)}.is_compatible_with(Shape{ids.dim(i)});
  }
  if (!begins) {
    invalid_argument("The shape of data, ", x, ", must begin with that of segment_ids, ", ids, ".");
  }
  Shape out{count ? count->integers()[0] : -1};
  for (int i = ids.rank(); i < x.rank(); ++i) out.append(x.dim(i));
  c.set_output(0, out);
}

// The row of x for each segment id; 0 for negative ids.
Output of_segment(Graph& g, Operation& op, Output x) {
  const Output ids = op.input(1), zero = g.scalar(ids.dtype(), 0);
  const Output rows =
      g.op("GatherV2", {x, g.op("Maximum", {ids, zero}), g.scalar(DType::kInt32, 0)});
  Output is_there = g.op("GreaterEqual", {ids, zero});
  for (int i = ids.shape().rank(); i < op.input(0).shape().rank(); ++i) {
    is_there = g.op("ExpandDims", {is_there, g.scalar(DType::kInt32, -1)});
  }
  return g.op("SelectV2", {is_there, rows, g.op("ZerosLike", {rows})});
}

Output number_of_segments(Graph& g, Operation& op) {
  if (op.inputs().size() > 2) return op.input(2);
  const Output first =
      g.op("Slice", {shape_of(g, op.output(0)), g.int_vector({0}), g.int_vector({1})});
  return g.op("Reshape", {first, g.int_vector({})});
}

Grads with_none_gradients(Operation& op, Output dx) {
  Grads grads(op.inputs().size());
  grads[0] = dx;
  return grads;
}

// Elements tied for the extremum share the gradient.
Grads extreme_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0);
  Output is_it = g.op("Equal", {x, of_segment(g, op, op.output(0))});
  is_it = cast(g, is_it, x.dtype());
  const Output count = g.op("UnsortedSegmentSum", {is_it, op.input(1), number_of_segments(g, op)});
  const Output share = of_segment(g, op, g.op("DivNoNan", {dy[0], count}));
  return with_none_gradients(op, multiply(g, is_it, share));
}

// The product of the other elements: with one zero in the segment, only the zero's derivative is
// nonzero; with several, all are 0.
Grads segment_product_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output x = op.input(0), zero = g.scalar(x.dtype(), 0), n = number_of_segments(g, op);
  const Output is_zero = g.op("Equal", {x, zero});
  const Output zeros =
      g.op("UnsortedSegmentSum", {cast(g, is_zero, DType::kInt32), op.input(1), n});
  const Output few = g.op("Greater", {g.scalar(DType::kInt32, 2), zeros});
  const Output grad = g.op("SelectV2", {few, dy[0], g.op("ZerosLike", {dy[0]})});
  const Output without = g.op("SelectV2", {is_zero, ones_like(g, x), x});
  const Output rest = of_segment(g, op, g.op("UnsortedSegmentProd", {without, op.input(1), n}));
  const Output whole = of_segment(g, op, op.output(0));
  const Output others = g.op("SelectV2", {is_zero, rest, divide(g, whole, without)});
  return with_none_gradients(op, multiply(g, of_segment(g, op, grad), others));
}

template <typename How>
struct OfSegments {
  template <typename T>
  using Sorted = SortedKernel<T, How>;
  template <typename T>
  using Unsorted = UnsortedKernel<T, How>;
};

}  // namespace

#define RUNHOOKS_SORTED_OP(type, kernel_class, ...)        \
  RUNHOOKS_REGISTER_OP(type)                               \
      .input("data: T, rank >= 1")                         \
      .input("segment_ids: Tindices, vector")              \
      .output("output: T")                                 \
      .attr("T: {float, double, int32, int64}")            \
      .attr("Tindices: {int32, int64}")                    \
      .shape(sorted_shape)                                 \
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
      .shape(unsorted_shape)                                                   \
      .kernel(kernel_by_type<kernel_class, float, double, int32_t, int64_t>()) \
      .example("f[4,2] i{2,0,1,0} i:3")

#define RUNHOOKS_ALL_NUMBERS float, double, int32_t, int64_t

RUNHOOKS_SORTED_OP("SegmentMax", OfSegments<Largest>::Sorted, RUNHOOKS_ALL_NUMBERS)
    .gradient(extreme_gradient)
    .endpoint("segment_max")
    .endpoint("math.segment_max")
    .summary("The maximum of the rows of each segment; segment ids are sorted.");
RUNHOOKS_SORTED_OP("SegmentMin", OfSegments<Smallest>::Sorted, RUNHOOKS_ALL_NUMBERS)
    .gradient(extreme_gradient)
    .endpoint("segment_min")
    .endpoint("math.segment_min")
    .summary("The minimum of the rows of each segment; segment ids are sorted.");
RUNHOOKS_SORTED_OP("SegmentProd", OfSegments<Product>::Sorted, RUNHOOKS_ALL_NUMBERS)
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
    .shape(sorted_shape)
    .kernel(kernel_by_type<SegmentMeanKernel, float, double>())
    .allocates_outputs()
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output ones = g.op("Fill", {shape_of(g, op.input(1)), g.scalar(dy[0].dtype(), 1)});
      Output count = g.op("SegmentSum", {ones, op.input(1)});
      for (int i = 1; i < op.input(0).shape().rank(); ++i) {
        count = g.op("ExpandDims", {count, g.scalar(DType::kInt32, -1)});
      }
      return with_none_gradients(op, of_segment(g, op, g.op("DivNoNan", {dy[0], count})));
    })
    .endpoint("segment_mean")
    .endpoint("math.segment_mean")
    .summary("The mean of the rows of each segment; segment ids are sorted.")
    .example("f[4,2] i{0,0,1,3}");

RUNHOOKS_UNSORTED_OP("UnsortedSegmentMax", OfSegments<Largest>::Unsorted)
    .gradient(extreme_gradient)
    .endpoint("unsorted_segment_max")
    .endpoint("math.unsorted_segment_max")
    .summary("The maximum of the rows of each segment.");
RUNHOOKS_UNSORTED_OP("UnsortedSegmentMin", OfSegments<Smallest>::Unsorted)
    .gradient(extreme_gradient)
    .endpoint("unsorted_segment_min")
    .endpoint("math.unsorted_segment_min")
    .summary("The minimum of the rows of each segment.");
RUNHOOKS_UNSORTED_OP("UnsortedSegmentProd", OfSegments<Product>::Unsorted)
    .gradient(segment_product_gradient)
    .endpoint("unsorted_segment_prod")
    .endpoint("math.unsorted_segment_prod")
    .summary("The product of the rows of each segment.");

}  // namespace runhooks
