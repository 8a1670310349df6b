#include "ops/math/segment.h"

#include <cmath>
#include <cstring>

#include "ops/lookup/lowering.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

int64_t count_segments(const Indices& ids) {
  for (int64_t i = 1; i < ids.size(); ++i) {
    if (ids[i] < ids[i - 1]) invalid_argument("segment ids are not increasing.");
  }
  if (ids.size() > 0 && ids[0] < 0) invalid_argument("segment ids must be >= 0.");
  return ids.size() == 0 ? 0 : sum_of_dims(ids[ids.size() - 1], 1);
}

void segment_shape(ShapeContext& c) {
  Shape out = c.input(0);
  const bool is_sparse = c.num_inputs() > 2;
  const Shape ids = c.with_rank(c.num_inputs() - 1, 1);
  const int64_t n = is_sparse ? c.with_rank(1, 1).dim(0) : out.has_rank() ? out.dim(0) : -1;
  if (n >= 0 && ids.dim(0) >= 0 && n != ids.dim(0)) {
    invalid_argument("segment_ids must have as many elements as there are ",
                     is_sparse ? "indices" : "rows", ", ", n, "; got ", ids.dim(0), ".");
  }
  const Tensor* segments = c.value(c.num_inputs() - 1);
  if (out.has_rank()) out.set_dim(0, segments ? count_segments(Indices(*segments)) : -1);
  c.set_output(0, out);
}

void unsorted_segment_shape(ShapeContext& c) {
  const Shape &x = c.input(0), &segments = c.input(1);
  const Tensor* count = c.value(2);
  if (!x.has_rank() || !segments.has_rank()) return c.set_output(0, Shape::unknown());
  bool has_segment_dims = x.rank() >= segments.rank();
  for (int i = 0; has_segment_dims && i < segments.rank(); ++i) {
    has_segment_dims = Shape{x.dim(i)}.is_compatible_with(Shape{segments.dim(i)});
  }
  if (!has_segment_dims) {
    invalid_argument("The shape of data, ", x, ", must begin with that of segment_ids, ", segments,
                     ".");
  }
  Shape out{count ? count->integers()[0] : -1};
  for (int i = segments.rank(); i < x.rank(); ++i) out.append(x.dim(i));
  c.set_output(0, out);
}

Output rows_of_segments(Graph& g, Operation& op, Output x) {
  const Output ids = op.input(1), zero = g.scalar(ids.dtype(), 0);
  const Output rows = rows_at(g, x, g.op("Maximum", {ids, zero}));
  Output is_valid = g.op("GreaterEqual", {ids, zero});
  for (int i = ids.shape().rank(); i < op.input(0).shape().rank(); ++i) {
    is_valid = g.op("ExpandDims", {is_valid, g.scalar(DType::kInt32, -1)});
  }
  return g.op("SelectV2", {is_valid, rows, g.op("ZerosLike", {rows})});
}

namespace {

int64_t row_width(const Tensor& x, int64_t rows) { return rows > 0 ? x.num_elements() / rows : 0; }

template <typename T>
class UnsortedSegmentSumKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Indices segments(c.input(1));
    Tensor& out = c.output(0);
    std::memset(out.raw(), 0, out.num_bytes());
    const int64_t limit = out.shape().dim(0), width = row_width(c.input(0), segments.size());
    const T* x = c.input(0).data<T>();
    for (int64_t i = 0; i < segments.size(); ++i, x += width) {
      if (segments[i] < 0) continue;  // TensorFlow ignores negative ids
      T* row = out.data<T>() + segments.checked(i, limit) * width;
      for (int64_t j = 0; j < width; ++j) row[j] = wrapping_add(row[j], x[j]);
    }
  }
};

enum class SegmentKind { kSum, kMean, kSqrtN };

template <SegmentKind kKind, typename T>
T segment_scale(int64_t n) {
  if (kKind == SegmentKind::kMean) return T(1) / static_cast<T>(n);
  if (kKind == SegmentKind::kSqrtN) return T(1) / std::sqrt(static_cast<T>(n));
  return T(1);
}

// Sums or averages the rows of each segment. If kIsSparse, input 1 selects the rows.
template <typename T, SegmentKind kKind, bool kIsSparse>
class SegmentKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Indices segments(c.input(kIsSparse ? 2 : 1)), indices(c.input(1));
    const int64_t n = count_segments(segments), rows = x.shape().dim(0);
    Shape shape = x.shape();
    shape.set_dim(0, n);
    Tensor& out = c.allocate_output(0, x.dtype(), shape);
    std::memset(out.raw(), 0, out.num_bytes());
    const int64_t width = row_width(x, rows);
    // Ids are sorted, so the rows of a segment are adjacent.
    for (int64_t begin = 0, end = 0; begin < segments.size(); begin = end) {
      T* to = out.data<T>() + segments[begin] * width;
      for (; end < segments.size() && segments[end] == segments[begin]; ++end) {
        const T* from = x.data<T>() + (kIsSparse ? indices.checked(end, rows) : end) * width;
        for (int64_t j = 0; j < width; ++j) to[j] = wrapping_add(to[j], from[j]);
      }
      if (kKind == SegmentKind::kSum) continue;
      const T scale = segment_scale<kKind, T>(end - begin);
      for (int64_t j = 0; j < width; ++j) to[j] *= scale;
    }
  }
};

// Adds the gradient of each segment to the rows that `indices` selects.
template <typename T, SegmentKind kKind>
class SparseSegmentGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& grad = c.input(0);
    const Indices indices(c.input(1)), segments(c.input(2));
    Tensor& out = c.output(0);
    std::memset(out.raw(), 0, out.num_bytes());
    const int64_t n = grad.shape().dim(0), rows = out.shape().dim(0), width = row_width(grad, n);
    counts_.assign(static_cast<size_t>(n), 0);
    for (int64_t i = 0; i < segments.size(); ++i) {
      ++counts_[static_cast<size_t>(segments.checked(i, n))];
    }
    for (int64_t i = 0; i < segments.size(); ++i) {
      const int64_t s = segments[i];
      const T scale = segment_scale<kKind, T>(counts_[static_cast<size_t>(s)]);
      T* to = out.data<T>() + indices.checked(i, rows) * width;
      const T* from = grad.data<T>() + s * width;
      for (int64_t j = 0; j < width; ++j) to[j] += scale * from[j];
    }
  }

 private:
  std::vector<int64_t> counts_;  // rows per segment
};

template <typename T>
using SegmentSumKernel = SegmentKernel<T, SegmentKind::kSum, false>;
template <typename T>
using SparseSegmentSumKernel = SegmentKernel<T, SegmentKind::kSum, true>;
template <typename T>
using SparseSegmentMeanKernel = SegmentKernel<T, SegmentKind::kMean, true>;
template <typename T>
using SparseSegmentSqrtNKernel = SegmentKernel<T, SegmentKind::kSqrtN, true>;
template <typename T>
using SparseSegmentSumGradKernel = SparseSegmentGradKernel<T, SegmentKind::kSum>;
template <typename T>
using SparseSegmentMeanGradKernel = SparseSegmentGradKernel<T, SegmentKind::kMean>;
template <typename T>
using SparseSegmentSqrtNGradKernel = SparseSegmentGradKernel<T, SegmentKind::kSqrtN>;

void segment_grad_shape(ShapeContext& c) {
  Shape out = c.input(0);
  c.input(1).merge_with(c.input(2));  // one segment id per index
  const Tensor* rows = c.value(3);
  if (out.has_rank()) out.set_dim(0, rows ? rows->integers()[0] : -1);
  c.set_output(0, out);
}

GradientFn sparse_segment_gradient(const char* type) {
  return [type](Graph& g, Operation& op, const Outputs& dy) -> Grads {
    const Output shape = shape_of(g, op.input(0));
    const Output first = g.op("Slice", {shape, g.int_vector({0}), g.int_vector({1})});
    const Output rows = g.op("Reshape", {first, g.int_vector({})});
    return {g.op(type, {dy[0], op.input(1), op.input(2), rows}), Gradient(), Gradient()};
  };
}

}  // namespace

RUNHOOKS_REGISTER_OP("UnsortedSegmentSum")
    .input("data: T")
    .input("segment_ids: Tindices")
    .input("num_segments: Tnumsegments, scalar, >= 0")
    .output("output: T")
    .attr("T: {float, double, int32, int64}")
    .attr("Tindices: {int32, int64}")
    .attr("Tnumsegments: {int32, int64} = DT_INT32")
    .shape(unsorted_segment_shape)
    .kernel(kernel_by_type<UnsortedSegmentSumKernel, float, double, int32_t, int64_t>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {rows_of_segments(g, op, dy[0]), Gradient(), Gradient()};
    })
    .endpoint("unsorted_segment_sum")
    .endpoint("math.unsorted_segment_sum")
    .summary("The sum of the rows of each segment.")
    .example("f[4,2] i{2,0,2,-1} i:3")
    .example("f[2,2] i[2,2]{2,0,2,1} i:3");

RUNHOOKS_REGISTER_OP("SegmentSum")
    .input("data: T, rank >= 1")
    .input("segment_ids: Tindices, vector")
    .output("output: T")
    .attr("T: {float, double, int32, int64}")
    .attr("Tindices: {int32, int64}")
    .shape(segment_shape)
    .kernel(kernel_by_type<SegmentSumKernel, float, double, int32_t, int64_t>())
    .allocates_outputs()
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {rows_at(g, dy[0], op.input(1)), Gradient()};
    })
    .endpoint("segment_sum")
    .endpoint("math.segment_sum")
    .summary("The sum of the rows of each segment; segment ids are sorted.")
    .example("f[4,2] i{0,0,1,3}");

namespace {

// Registers SparseSegment<name> and its gradient.
bool register_sparse_segment(const std::string& name,
                             const KernelFactory& kernel,
                             const KernelFactory& grad_kernel,
                             const char* endpoint,
                             const LowerFn& lower_grad = nullptr) {
  // The registry stores pointers into these strings, so they must live as long as the process.
  static std::vector<std::unique_ptr<std::string>> types;
  types.push_back(std::make_unique<std::string>("SparseSegment" + name + "Grad"));
  const std::string type = "SparseSegment" + name;
  const std::string& grad_type = *types.back();
  OpRegistration(type.c_str())
      .input("data: T, rank >= 1")
      .input("indices: Tidx, vector")
      .input("segment_ids: int32, vector")
      .output("output: T")
      .attr("T: {float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .shape(segment_shape)
      .kernel(kernel)
      .allocates_outputs()
      .gradient(sparse_segment_gradient(grad_type.c_str()))
      .r(str_cat(endpoint, "(data, indices, segment_ids, name = NULL, num_segments = NULL)")
             .c_str())
      .summary("Rows selected by indices, combined by segment.")
      .example("f[4,2] i{1,1,3} i{0,0,2}");
  OpRegistration(grad_type.c_str())
      .input("grad: T, rank >= 1")
      .input("indices: Tidx, vector")
      .input("segment_ids: int32, vector")
      .input("output_dim0: int32, scalar, >= 0")
      .output("output: T")
      .attr("T: {float, double}")
      .attr("Tidx: {int32, int64} = DT_INT32")
      .shape(segment_grad_shape)
      .kernel(grad_kernel)
      .not_differentiable()
      .lower(lower_grad)
      .endpoint(("raw_ops." + grad_type).c_str())
      .summary("The gradient of the data of a sparse segment op.")
      .example("f[3,2] i{1,1,3} i{0,0,2} i:4");
  return true;
}

[[maybe_unused]] const bool kIsRegistered[] = {
    register_sparse_segment("Sum",
                            kernel_by_type<SparseSegmentSumKernel, float, double>(),
                            kernel_by_type<SparseSegmentSumGradKernel, float, double>(),
                            "sparse_segment_sum",
                            lower_sparse_segment_sum_grad),
    register_sparse_segment("Mean",
                            kernel_by_type<SparseSegmentMeanKernel, float, double>(),
                            kernel_by_type<SparseSegmentMeanGradKernel, float, double>(),
                            "sparse_segment_mean"),
    register_sparse_segment("SqrtN",
                            kernel_by_type<SparseSegmentSqrtNKernel, float, double>(),
                            kernel_by_type<SparseSegmentSqrtNGradKernel, float, double>(),
                            "sparse_segment_sqrt_n")};

}  // namespace

}  // namespace runhooks
