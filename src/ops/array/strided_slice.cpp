#include <algorithm>

#include "ops/array/copy_elements.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

// The elements of each input dimension that a slice selects, and the shape of the result.
struct SliceSpec {
  struct DimRange {
    int64_t begin = 0, stride = 1, size = -1;
  };
  std::vector<DimRange> dims;  // one per input dimension
  Shape out;
};

struct SliceArguments {
  std::vector<int64_t> begin, end, strides;
  bool is_known = true;  // if FALSE, only the lengths and perhaps the strides are known
  bool has_strides = true;
};

bool has_bit(const Operation& op, const char* mask, size_t i) {
  return (op.attr_int(mask) >> i & 1) != 0;
}

int64_t clamp_index(int64_t x, int64_t n, int64_t low, int64_t high) {
  return std::min(std::max(x < 0 ? x + n : x, low), high);
}

SliceSpec::DimRange single_index(int64_t begin, int64_t n, size_t dim) {
  SliceSpec::DimRange range;
  range.begin = begin < 0 && n >= 0 ? begin + n : begin;
  range.size = 1;
  if (n >= 0 && (range.begin < 0 || range.begin >= n)) {
    invalid_argument("slice index ", begin, " of dimension ", dim, " out of bounds: it has ", n,
                     " elements.");
  }
  return range;
}

SliceSpec::DimRange dim_range(const Operation& op, const SliceArguments& a, size_t i, int64_t n) {
  SliceSpec::DimRange range;
  range.stride = a.strides[i];
  if (range.stride == 0) invalid_argument("strides[", i, "] must be non-zero.");
  const bool has_no_begin = has_bit(op, "begin_mask", i), has_no_end = has_bit(op, "end_mask", i);
  if (n < 0) return range;
  // Any stride longer than n selects one element; the original could overflow in a product.
  range.stride = std::clamp(range.stride, -n - 1, n + 1);
  const bool forward = range.stride > 0;
  const int64_t low = forward ? 0 : -1, high = forward ? n : n - 1;
  range.begin = has_no_begin ? (forward ? low : high) : clamp_index(a.begin[i], n, low, high);
  const int64_t end = has_no_end ? (forward ? high : low) : clamp_index(a.end[i], n, low, high);
  const int64_t extent = forward ? end - range.begin : range.begin - end;
  const int64_t step = forward ? range.stride : -range.stride;
  range.size = extent <= 0 ? 0 : (extent - 1) / step + 1;
  return range;
}

SliceSpec slice_spec(const Operation& op, const Shape& in, const SliceArguments& a) {
  const size_t n = a.begin.size();
  if (a.end.size() != n || a.strides.size() != n) {
    invalid_argument("begin, end and strides must have the same length.");
  }
  if (n > 32) invalid_argument("A slice takes at most 32 indices, not ", n, ".");
  size_t num_indexed = 0;
  bool has_ellipsis = false;
  for (size_t i = 0; i < n; ++i) {
    const bool is_ellipsis = has_bit(op, "ellipsis_mask", i);
    if (is_ellipsis && has_ellipsis)
      invalid_argument("Multiple ellipses in slice spec not allowed.");
    has_ellipsis = has_ellipsis || is_ellipsis;
    num_indexed += !is_ellipsis && !has_bit(op, "new_axis_mask", i);
  }
  const auto rank = static_cast<size_t>(in.rank());
  if (num_indexed > rank) {
    invalid_argument("Index out of range: ", num_indexed,
                     " indices are given, but the input of shape ", in, " has ", rank,
                     " dimensions.");
  }
  SliceSpec spec;
  auto next_dim = [&] { return in.dim(static_cast<int>(spec.dims.size())); };
  auto append_full_dims = [&](size_t count) {
    while (spec.dims.size() < count) {
      spec.out.append(next_dim());
      SliceSpec::DimRange range;
      range.size = next_dim();
      spec.dims.push_back(range);
    }
  };
  for (size_t i = 0; i < n; ++i) {
    if (has_bit(op, "ellipsis_mask", i)) {
      append_full_dims(spec.dims.size() + rank - num_indexed);
    } else if (has_bit(op, "new_axis_mask", i)) {
      spec.out.append(1);
    } else if (has_bit(op, "shrink_axis_mask", i)) {
      const int64_t n = a.is_known ? next_dim() : -1;
      spec.dims.push_back(single_index(a.begin[i], n, spec.dims.size()));
    } else {
      const bool is_all = has_bit(op, "begin_mask", i) && has_bit(op, "end_mask", i);
      const bool is_known = a.is_known || (is_all && a.has_strides);
      spec.dims.push_back(dim_range(op, a, i, is_known ? next_dim() : -1));
      spec.out.append(spec.dims.back().size);
    }
  }
  append_full_dims(rank);
  return spec;
}

// Calls visit(offset in the input, index in the result) for each element of the slice.
template <typename Visit>
void for_each_element(const SliceSpec& spec, const Shape& in, Visit visit) {
  const size_t rank = spec.dims.size();
  std::vector<int64_t> strides(rank, 1), index(rank, 0);
  int64_t num_elements = 1, offset = 0;
  for (size_t k = rank; k-- > 0;) {
    if (k + 1 < rank) strides[k] = strides[k + 1] * in.dim(static_cast<int>(k) + 1);
    num_elements *= spec.dims[k].size;
    offset += spec.dims[k].begin * strides[k];
  }
  for (int64_t i = 0; i < num_elements; ++i) {
    visit(offset, i);
    for (size_t k = rank; k-- > 0;) {
      offset += spec.dims[k].stride * strides[k];
      if (++index[k] < spec.dims[k].size) break;
      offset -= spec.dims[k].size * spec.dims[k].stride * strides[k];
      index[k] = 0;
    }
  }
}

// Reads begin, end and strides from the inputs `first` to `first` + 2.
template <typename Get>
bool read_arguments(int first, Get get, SliceArguments* a) {
  const Tensor *begin = get(first), *end = get(first + 1), *strides = get(first + 2);
  if (!begin || !end || !strides) return false;
  *a = {begin->integers(), end->integers(), strides->integers()};
  return true;
}

void strided_slice_shape(ShapeContext& c) {
  SliceArguments a;
  const Shape& number = c.input(1);
  a.is_known = read_arguments(
      1, [&](int i) { return c.value(i); }, &a);
  if (!a.is_known && number.has_rank() && number.rank() == 1 && number.dim(0) >= 0) {
    a.begin.assign(static_cast<size_t>(number.dim(0)), 0);
    a.end = a.begin;
    a.has_strides = c.value(3) != nullptr;
    a.strides = a.has_strides ? c.value(3)->integers() : std::vector<int64_t>(a.begin.size(), 1);
  } else if (!a.is_known) {
    return;
  }
  if (!c.input(0).has_rank()) return;
  c.set_output(0, slice_spec(c.op(), c.input(0), a).out);
}

class StridedSliceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    SliceArguments a;
    read_arguments(
        1, [&](int i) { return &c.input(i); }, &a);
    const Tensor& in = c.input(0);
    element_copier_.begin(c.output(0), in);
    for_each_element(slice_spec(c.op(), in.shape(), a), in.shape(),
                     [&](int64_t from, int64_t to) { element_copier_.copy(in, from, to, 1); });
  }

 private:
  ElementCopier element_copier_;
};

void strided_slice_grad_shape(ShapeContext& c) {
  const Tensor* dims = c.value(0);
  if (!dims) return;
  const Shape in(dims->integers());
  SliceArguments a;
  if (read_arguments(
          1, [&](int i) { return c.value(i); }, &a)) {
    const Shape out = slice_spec(c.op(), in, a).out;
    if (!out.is_compatible_with(c.input(4))) {
      invalid_argument("dy has shape ", c.input(4), " where the slice has ", out, ".");
    }
  }
  c.set_output(0, in);
}

class StridedSliceGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    SliceArguments a;
    read_arguments(
        1, [&](int i) { return &c.input(i); }, &a);
    const Tensor& dy = c.input(4);
    Tensor& out = c.output(0);
    element_copier_.begin(out, dy);
    element_copier_.fill_default(0, out.num_elements());
    for_each_element(slice_spec(c.op(), out.shape(), a), out.shape(),
                     [&](int64_t to, int64_t from) { element_copier_.copy(dy, from, to, 1); });
  }

 private:
  ElementCopier element_copier_;
};

constexpr const char* kMasks[] = {"begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                  "shrink_axis_mask"};

Output op_with_masks_of(Graph& g, const Operation& op, const char* type, const Outputs& inputs) {
  auto node = g.op(type, inputs);
  for (const char* mask : kMasks) node.attr(mask, op.attr_int(mask));
  return node;
}

void tile_shape(ShapeContext& c) {
  const Tensor* multiples = c.value(1);
  const Shape& x = c.input(0);
  if (x.has_rank() && !Shape{x.rank()}.is_compatible_with(c.input(1))) {
    invalid_argument("Expected multiples argument to be a vector of length ", x.rank(),
                     " but got shape ", c.input(1), ".");
  }
  if (!x.has_rank()) return;
  Shape out = Shape::unknown_of_rank(x.rank());
  for (int i = 0; multiples && i < x.rank(); ++i) {
    const int64_t multiple = multiples->integers()[static_cast<size_t>(i)];
    out.set_dim(i, product_of_dims(x.dim(i), multiple));
  }
  c.set_output(0, out);
}

class TileKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Tensor& out = c.output(0);
    if (out.num_elements() == 0) return;
    element_copier_.begin(out, x);
    const int rank = x.shape().rank();
    const int64_t row_length = rank == 0 ? 1 : x.shape().dim(rank - 1);
    const int64_t width = rank == 0 ? 1 : out.shape().dim(rank - 1);
    std::vector<int64_t> index(static_cast<size_t>(std::max(rank, 1)), 0);
    for (int64_t to = 0; to < out.num_elements(); to += width) {
      int64_t from = 0;
      for (int i = 0; i + 1 < rank; ++i) {
        from = from * x.shape().dim(i) + index[static_cast<size_t>(i)] % x.shape().dim(i);
      }
      for (int64_t offset = 0; offset < width; offset += row_length)
        element_copier_.copy(x, from * row_length, to + offset, row_length);
      for (int i = rank - 2; i >= 0; --i) {
        if (++index[static_cast<size_t>(i)] < out.shape().dim(i)) break;
        index[static_cast<size_t>(i)] = 0;
      }
    }
  }

 private:
  ElementCopier element_copier_;
};

// Reshapes so that the repetitions of a dimension become a dimension, and sums over these
// dimensions.
Grads tile_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output dims =
      g.op("Pack", {cast(g, op.input(1), DType::kInt32), shape_of(g, op.input(0))}).attr("axis", 1);
  const Output split_shape = g.op("Reshape", {dims, g.int_vector({-1})});
  const Output axes = g.op("Range", {g.scalar(DType::kInt32, 0), g.op("Size", {split_shape}),
                                     g.scalar(DType::kInt32, 2)});
  return {g.op("Sum", {g.op("Reshape", {dy[0], split_shape}), axes}), Gradient()};
}

void reverse_shape(ShapeContext& c) {
  const Tensor* axes = c.value(1);
  const Shape& x = c.input(0);
  if (axes && x.has_rank()) {
    std::vector<bool> is_reversed(static_cast<size_t>(x.rank()), false);
    for (const int64_t axis_argument : axes->integers()) {
      const int64_t axis = axis_argument < 0 ? axis_argument + x.rank() : axis_argument;
      if (axis < 0 || axis >= x.rank()) {
        invalid_argument("'axis' ", axis_argument, " is out of bounds: the tensor has shape ", x,
                         ".");
      }
      if (is_reversed[static_cast<size_t>(axis)]) {
        invalid_argument("axis ", axis, " specified more than once.");
      }
      is_reversed[static_cast<size_t>(axis)] = true;
    }
  }
  c.set_output(0, x);
}

class ReverseKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    const Shape& shape = x.shape();
    SliceSpec spec;
    for (int i = 0; i < shape.rank(); ++i) {
      SliceSpec::DimRange range;
      range.size = shape.dim(i);
      spec.dims.push_back(range);
    }
    for (int64_t axis : c.input(1).integers()) {
      SliceSpec::DimRange& range =
          spec.dims[static_cast<size_t>(axis < 0 ? axis + shape.rank() : axis)];
      range.begin = range.size - 1;
      range.stride = -1;
    }
    element_copier_.begin(c.output(0), x);
    if (x.num_elements() == 0) return;
    for_each_element(spec, shape,
                     [&](int64_t from, int64_t to) { element_copier_.copy(x, from, to, 1); });
  }

 private:
  ElementCopier element_copier_;
};

}  // namespace

#define RUNHOOKS_SLICE_ATTRS          \
  attr("T: type")                     \
      .attr("Index: {int32, int64}")  \
      .attr("begin_mask: int = 0")    \
      .attr("end_mask: int = 0")      \
      .attr("ellipsis_mask: int = 0") \
      .attr("new_axis_mask: int = 0") \
      .attr("shrink_axis_mask: int = 0")

RUNHOOKS_REGISTER_OP("StridedSlice")
    .input("input: T")
    .input("begin: Index, vector")
    .input("end: Index, vector")
    .input("strides: Index, vector")
    .output("output: T")
    .RUNHOOKS_SLICE_ATTRS.shape(strided_slice_shape)
    .kernel(kernel_of<StridedSliceKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      Output dims = shape_of(g, op.input(0));
      dims = cast(g, dims, op.input(1).dtype());
      return {op_with_masks_of(g, op, "StridedSliceGrad",
                               {dims, op.input(1), op.input(2), op.input(3), dy[0]}),
              Gradient(), Gradient(), Gradient()};
    })
    .endpoint("raw_ops.StridedSlice")
    .summary("The elements from begin to end in steps of strides.")
    .example("f[4,3,2] i{1,0} i{4,2} i{2,1}")
    .example("f[4,3,2] i{3,0,1} i{0,9,2} i{-2,1,1} | end_mask=2 shrink_axis_mask=4")
    .example(
        "f[4,3,2] i{0,0,-1} i{0,0,0} i{1,1,1} | ellipsis_mask=1 new_axis_mask=2 "
        "shrink_axis_mask=4");

RUNHOOKS_REGISTER_OP("StridedSliceGrad")
    .input("shape: Index, vector, >= 0")
    .input("begin: Index, vector")
    .input("end: Index, vector")
    .input("strides: Index, vector")
    .input("dy: T")
    .output("output: T")
    .RUNHOOKS_SLICE_ATTRS.shape(strided_slice_grad_shape)
    .kernel(kernel_of<StridedSliceGradKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Outputs inputs = {dy[0], op.input(1), op.input(2), op.input(3)};
      return {Gradient(), Gradient(), Gradient(), Gradient(),
              op_with_masks_of(g, op, "StridedSlice", inputs)};
    })
    .endpoint("raw_ops.StridedSliceGrad")
    .summary("The gradient of StridedSlice: zeros, with dy in the slice.")
    .example("i{4,3} i{1,0} i{4,2} i{2,1} f[2,2]");

RUNHOOKS_REGISTER_OP("Tile")
    .input("input: T")
    .input("multiples: Tmultiples, vector, >= 0")
    .output("output: T")
    .attr("T: type")
    .attr("Tmultiples: {int32, int64} = DT_INT32")
    .shape(tile_shape)
    .kernel(kernel_of<TileKernel>())
    .gradient(tile_gradient)
    .summary("Repeats a tensor along each dimension.")
    .example("f[2,3] i{2,1}")
    .example("f[2,1,3] i{1,3,2}");

RUNHOOKS_REGISTER_OP("ReverseV2")
    .input("tensor: T")
    .input("axis: Tidx, vector")
    .output("output: T")
    .attr("Tidx: {int32, int64} = DT_INT32")
    .attr("T: type")
    .shape(reverse_shape)
    .kernel(kernel_of<ReverseKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("ReverseV2", {dy[0], op.input(1)}), Gradient()};
    })
    .r("reverse, reverse_v2, raw_ops.ReverseV2(tensor, axis, name = NULL)")
    .summary("Reverses some dimensions.")
    .example("f[2,3] i{1}")
    .example("f[2,3,2] i{0,-1}");

}  // namespace runhooks
