#include <algorithm>
#include <cstring>

#include "ops/array/copy_box.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

class SliceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> begin = c.input(1).integers();
    const Shape& box = c.output(0).shape();
    element_copier_.begin(c.output(0), c.input(0));
    copy_box(element_copier_, c.input(0), begin, box, std::vector<int64_t>(begin.size(), 0), box);
  }

 private:
  ElementCopier element_copier_;
};

void slice_shape(ShapeContext& c) {
  const Tensor *begin = c.value(1), *size = c.value(2);
  const Shape& x = c.input(0);
  if (!begin || !size || !x.has_rank()) {
    c.set_output(0, x.has_rank() ? Shape::unknown_of_rank(x.rank()) : Shape::unknown());
    return;
  }
  const std::vector<int64_t> begins = begin->integers(), sizes = size->integers();
  if (static_cast<int>(begins.size()) != x.rank() || begins.size() != sizes.size()) {
    invalid_argument("begin and size must have one entry for each of the ", x.rank(),
                     " dimensions.");
  }
  Shape out;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t d = x.dim(static_cast<int>(i));
    const bool begin_is_valid = begins[i] >= 0 && (d < 0 || begins[i] <= d);
    const int64_t n = sizes[i] >= 0 ? sizes[i] : (d < 0 || !begin_is_valid ? -1 : d - begins[i]);
    if (!begin_is_valid || (d >= 0 && n > d - begins[i])) {
      invalid_argument("Expected begin[", i, "] in [0, ", d,
                       "] and begin + size within it; got begin ", begins[i], ", size ", sizes[i],
                       ".");
    }
    out.append(n);
  }
  c.set_output(0, out);
}

// Returns the paddings with which Pad restores the size that x had before Slice: the sizes before
// and after the slice.
Output paddings_of_slice(Graph& g, Output x, Output begin, Output slice) {
  const Output after = subtract(g, subtract(g, shape_of(g, x), shape_of(g, slice)), begin);
  return g.op("Pack", {begin, after}).attr("axis", 1);
}

class UnpackKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    int64_t axis = c.op().attr_int("axis");
    const Tensor& x = c.input(0);
    if (axis < 0) axis += x.shape().rank();
    std::vector<int64_t> begin(static_cast<size_t>(x.shape().rank()), 0), zero = begin;
    Shape box = x.shape();
    box.set_dim(static_cast<int>(axis), 1);
    for (int i = 0; i < c.num_outputs(); ++i) {
      begin[static_cast<size_t>(axis)] = i;
      element_copier_.begin(c.output(i), x);
      copy_box(element_copier_, x, begin, box, zero, box);
    }
  }

 private:
  ElementCopier element_copier_;
};

void unpack_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  Shape out = Shape::unknown();
  if (x.has_rank()) {
    int64_t axis = c.op().attr_int("axis");
    if (axis < 0) axis += x.rank();
    if (axis < 0 || axis >= x.rank()) {
      invalid_argument("Cannot unstack along axis ", c.op().attr_int("axis"), " of shape ", x, ".");
    }
    const int64_t d = x.dim(static_cast<int>(axis));
    if (d >= 0 && d != c.op().attr_int("num")) {
      invalid_argument("Cannot unstack ", d, " parts into ", c.op().attr_int("num"), " tensors.");
    }
    out = Shape();
    for (int i = 0; i < x.rank(); ++i) {
      if (i != axis) out.append(x.dim(i));
    }
  }
  for (int64_t i = 0; i < c.op().attr_int("num"); ++i) c.set_output(static_cast<int>(i), out);
}

int64_t checked_axis(const Shape& x, int64_t axis_value) {
  const int64_t axis = axis_value < 0 ? axis_value + x.rank() : axis_value;
  if (axis < 0 || axis >= x.rank()) {
    invalid_argument("-input rank(-", x.rank(), ") <= split_dim < input rank (", x.rank(),
                     "), but got ", axis_value, ".");
  }
  return axis;
}

// Splits a tensor along an axis into slices with the sizes of the outputs. The axis is the value of
// input number `kAxis`.
template <int kAxis>
class SplitKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(kAxis == 0 ? 1 : 0);
    const auto axis = static_cast<size_t>(checked_axis(x.shape(), c.input(kAxis).integers()[0]));
    std::vector<int64_t> begin(static_cast<size_t>(x.shape().rank()), 0), zero = begin;
    for (int i = 0; i < c.num_outputs(); ++i) {
      const Shape& box = c.output(i).shape();
      element_copier_.begin(c.output(i), x);
      copy_box(element_copier_, x, begin, box, zero, box);
      begin[axis] += box.dim(static_cast<int>(axis));
    }
  }

 private:
  ElementCopier element_copier_;
};

void split_shape(ShapeContext& c) {
  const Tensor* axis_value = c.value(0);
  Shape out = c.input(1);
  const int64_t n = c.op().attr_int("num_split");
  if (out.has_rank() && !axis_value) out = Shape::unknown_of_rank(out.rank());
  if (out.has_rank() && axis_value) {
    const auto axis = static_cast<int>(checked_axis(out, axis_value->integers()[0]));
    if (out.dim(axis) >= 0 && out.dim(axis) % n != 0) {
      invalid_argument("Dimension size must be evenly divisible by ", n, " but is ", out.dim(axis),
                       " for shape ", out, ".");
    }
    if (out.dim(axis) >= 0) out.set_dim(axis, out.dim(axis) / n);
  }
  for (int i = 0; i < n; ++i) c.set_output(i, out);
}

void split_v_shape(ShapeContext& c) {
  const Tensor *axis_value = c.value(2), *sizes = c.value(1);
  const Shape& x = c.input(0);
  const int64_t n = c.op().attr_int("num_split");
  if (!Shape{n}.is_compatible_with(c.input(1))) {
    invalid_argument("size_splits must have ", n, " elements, but has shape ", c.input(1), ".");
  }
  if (!x.has_rank()) return;
  if (!axis_value || !sizes) {
    for (int i = 0; i < n; ++i) c.set_output(i, Shape::unknown_of_rank(x.rank()));
    return;
  }
  const auto axis = static_cast<int>(checked_axis(x, axis_value->integers()[0]));
  std::vector<int64_t> parts = sizes->integers();
  int64_t sum = 0, inferred_part = -1;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] < 0 && inferred_part >= 0)
      invalid_argument("There can only be one -1 in size_splits.");
    if (parts[i] < 0) inferred_part = static_cast<int64_t>(i);
    if (parts[i] >= 0) sum += parts[i];
  }
  const bool sizes_match = inferred_part < 0 ? sum == x.dim(axis) : sum <= x.dim(axis);
  if (x.dim(axis) >= 0 && !sizes_match) {
    invalid_argument(
        "Determined shape must either match input shape along split_dim exactly if "
        "fully specified, or be less than the size of the input along split_dim if "
        "not fully specified. Got: ",
        sum, " for shape ", x, ".");
  }
  if (inferred_part >= 0)
    parts[static_cast<size_t>(inferred_part)] = x.dim(axis) < 0 ? -1 : x.dim(axis) - sum;
  for (int i = 0; i < n; ++i) {
    Shape out = x;
    out.set_dim(axis, parts[static_cast<size_t>(i)]);
    c.set_output(i, out);
  }
}

Output concatenate(Graph& g, Outputs parts, Output axis) {
  parts.push_back(axis);
  return g.op("ConcatV2", parts);
}

class ConcatOffsetKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t rank = c.input(1).num_elements(), axis_value = *c.input(0).data<int32_t>();
    const int64_t axis = axis_value < 0 ? axis_value + rank : axis_value;
    if (axis < 0 || axis >= rank) {
      invalid_argument("Concat dim is out of range: ", axis_value, " for shapes of ", rank,
                       " dimensions.");
    }
    int64_t offset = 0;
    for (int i = 0; i < c.num_outputs(); ++i) {
      Tensor& out = c.output(i);
      std::memset(out.raw(), 0, out.num_bytes());
      out.data<int32_t>()[axis] = static_cast<int32_t>(offset);
      offset += c.input(i + 1).data<int32_t>()[axis];
    }
  }
};

void concat_offset_shape(ShapeContext& c) {
  Shape first = c.input(1);
  for (int i = 1; i < c.num_inputs(); ++i) {
    first = first.merge_with(c.input(i));
    c.set_output(i - 1, c.input(i));
  }
}

}  // namespace

RUNHOOKS_REGISTER_OP("Slice")
    .input("input: T")
    .input("begin: Index, vector, >= 0")
    .input("size: Index, vector, >= -1")
    .output("output: T")
    .attr("T: type")
    .attr("Index: {int32, int64}")
    .shape(slice_shape)
    .kernel(kernel_of<SliceKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output paddings = paddings_of_slice(g, op.input(0), op.input(1), op.output(0));
      return {g.op("Pad", {dy[0], paddings}), Gradient(), Gradient()};
    })
    .r("slice(input_ as input, begin, size, name = NULL)")
    .endpoint("raw_ops.Slice")
    .summary("A slice of the given size from begin; size -1 means up to the end.")
    .example("f[4,3] i{1,0} i{2,-1}")
    .example("f[4,3,2] i{1,2,0} i{2,1,2}");

RUNHOOKS_REGISTER_OP("Unpack")
    .input("value: T, rank >= 1")
    .output("output: num * T")
    .attr("num: int >= 0")
    .attr("T: type")
    .attr("axis: int = 0")
    .shape(unpack_shape)
    .kernel(kernel_of<UnpackKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("Pack", dy).attr("axis", op.attr_int("axis"))};
    })
    .endpoint("raw_ops.Unpack")
    .summary("Splits an axis into separate tensors.")
    .example("f[2,3] | num=2")
    .example("f[2,3] | num=3 axis=1");

RUNHOOKS_REGISTER_OP("Split")
    .input("split_dim: int32, scalar")
    .input("value: T")
    .output("output: num_split * T")
    .attr("num_split: int >= 1")
    .attr("T: type")
    .shape(split_shape)
    .kernel(kernel_of<SplitKernel<0>>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {Gradient(), concatenate(g, dy, op.input(0))};
    })
    .r("raw_ops.Split(axis as split_dim, value, num_split, name = NULL)")
    .summary("Splits a dimension into equal parts.")
    .example("i:1 f[2,6] | num_split=3");

RUNHOOKS_REGISTER_OP("SplitV")
    .input("value: T")
    .input("size_splits: Tlen, vector, >= -1")
    .input("split_dim: int32, scalar")
    .output("output: num_split * T")
    .attr("num_split: int >= 1")
    .attr("T: type")
    .attr("Tlen: {int32, int64} = DT_INT64")
    .shape(split_v_shape)
    .kernel(kernel_of<SplitKernel<2>>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {concatenate(g, dy, op.input(2)), Gradient(), Gradient()};
    })
    .r("raw_ops.SplitV(value, size_splits, axis as split_dim, num_split, name = NULL)")
    .summary("Splits a dimension into parts of the given sizes.")
    .example("f[2,6] i{1,3,2} i:1 | num_split=3")
    .example("f[5,2] i{-1,3} i:0 | num_split=2");

RUNHOOKS_REGISTER_OP("ConcatOffset")
    .input("concat_dim: int32, scalar")
    .input("shape: N * int32, vector")
    .output("offset: N * int32")
    .attr("N: int >= 1")
    .shape(concat_offset_shape)
    .kernel(kernel_of<ConcatOffsetKernel>())
    .not_differentiable()
    .endpoint("raw_ops.ConcatOffset")
    .summary("The offset of each tensor in a concatenation.")
    .example("i:1 i{2,3} i{2,1}");

}  // namespace runhooks
