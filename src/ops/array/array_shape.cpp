#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/array/copy_elements.h"
#include "ops/array/index_reader.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

void set_integer(Tensor& out, int64_t i, int64_t value) {
  if (out.dtype() == DType::kInt32) {
    out.data<int32_t>()[i] = static_cast<int32_t>(value);
  } else {
    out.data<int64_t>()[i] = value;
  }
}

class ShapeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    for (int i = 0; i < shape.rank(); ++i) set_integer(c.output(0), i, shape.dim(i));
  }
};

class SizeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    set_integer(c.output(0), 0, c.input(0).num_elements());
  }
};

class RankKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    set_integer(c.output(0), 0, c.input(0).shape().rank());
  }
};

// For each of two broadcast operands, the axes over which its gradient must be summed.
class BroadcastGradientArgsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> a = c.input(0).integers(), b = c.input(1).integers();
    const size_t rank = std::max(a.size(), b.size());
    for (int k = 0; k < 2; ++k) {
      const std::vector<int64_t>&dims = k == 0 ? a : b, &other = k == 0 ? b : a;
      std::vector<int64_t> axes;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t d = dim_from_end(dims, rank - 1 - i), e = dim_from_end(other, rank - 1 - i);
        if (d == 1 && (e != 1 || rank - i > dims.size())) axes.push_back(static_cast<int64_t>(i));
      }
      Tensor& out =
          c.allocate_output(k, c.input(0).dtype(), Shape{static_cast<int64_t>(axes.size())});
      for (size_t i = 0; i < axes.size(); ++i) set_integer(out, static_cast<int64_t>(i), axes[i]);
    }
  }

 private:
  static int64_t dim_from_end(const std::vector<int64_t>& dims, size_t from_end) {
    return from_end < dims.size() ? dims[dims.size() - 1 - from_end] : 1;
  }
};

class PackKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Tensor& out = c.output(0);
    int64_t axis = c.op().attr_int("axis");
    const Shape& in = c.input(0).shape();
    if (axis < 0) axis += in.rank() + 1;
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= in.dim(i);
    if (out.num_elements() == 0) return;
    element_copier_.begin(out, c.num_inputs(), [&c](int k) -> const Tensor& { return c.input(k); });
    const int64_t block = in.num_elements() / outer;
    int64_t to = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int k = 0; k < c.num_inputs(); ++k, to += block) {
        element_copier_.copy(c.input(k), o * block, to, block);
      }
    }
  }

 private:
  ElementCopier element_copier_;
};

void pack_shape(ShapeContext& c) {
  Shape in = c.input(0);
  for (int i = 1; i < c.num_inputs(); ++i) in = in.merge_with(c.input(i));
  if (!in.has_rank()) {
    c.set_output(0, in);
    return;
  }
  int64_t axis = c.op().attr_int("axis");
  if (axis < 0) axis += in.rank() + 1;
  if (axis < 0 || axis > in.rank()) {
    invalid_argument("Cannot stack along axis ", c.op().attr_int("axis"), " of shape ", in, ".");
  }
  Shape out;
  for (int i = 0; i <= in.rank(); ++i) {
    if (i == axis) out.append(c.num_inputs());
    if (i < in.rank()) out.append(in.dim(i));
  }
  c.set_output(0, out);
}

class ConcatKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = c.num_inputs() - 1;
    Tensor& out = c.output(0);
    int64_t axis = c.input(n).integers()[0];
    if (axis < 0) axis += out.shape().rank();
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= out.shape().dim(i);
    if (out.num_elements() == 0) return;
    element_copier_.begin(out, n, [&c](int k) -> const Tensor& { return c.input(k); });
    const int64_t row = out.num_elements() / outer;
    int64_t to = 0;
    for (int k = 0; k < n; ++k) {
      const int64_t block = c.input(k).num_elements() / outer;
      element_copier_.copy_rows(c.input(k), 0, block, to, row, outer, block);
      to += block;
    }
  }

 private:
  ElementCopier element_copier_;
};

void concat_shape(ShapeContext& c) {
  const int n = c.num_inputs() - 1;
  const Tensor* axis_value = c.value(n);
  Shape out = Shape::unknown();
  if (!axis_value) {
    for (int i = 0; i < n; ++i) {
      if (c.input(i).has_rank()) out = Shape::unknown_of_rank(c.input(i).rank());
    }
    c.set_output(0, out);
    return;
  }
  int64_t axis = axis_value->integers()[0];
  int64_t total = 0;
  for (int i = 0; i < n; ++i) {
    if (!c.input(i).has_rank()) {
      c.set_output(0, Shape::unknown());
      return;
    }
    Shape other_dims = c.input(i);
    if (i == 0 && axis < 0) axis += other_dims.rank();
    if (axis < 0 || axis >= other_dims.rank()) {
      invalid_argument("Cannot concatenate along axis ", axis_value->integers()[0], " of shape ",
                       other_dims, ".");
    }
    const int64_t d = other_dims.dim(static_cast<int>(axis));
    total = sum_of_dims(total, d);
    other_dims.set_dim(static_cast<int>(axis), -1);
    out = out.merge_with(other_dims);
  }
  out.set_dim(static_cast<int>(axis), total);
  c.set_output(0, out);
}

class RangeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Tensor& out = c.output(0);
    if (is_floating(out.dtype())) return fill_floats(c, out);
    const int64_t start = c.input(0).integers()[0], delta = c.input(2).integers()[0];
    for (int64_t i = 0; i < out.num_elements(); ++i) set_integer(out, i, start + i * delta);
  }

 private:
  // Adds the step repeatedly, as TensorFlow does. A product start + i * step would have other last
  // bits.
  static void fill_floats(KernelContext& c, Tensor& out) {
    if (out.dtype() == DType::kFloat32) return fill_by_addition<float>(c, out);
    fill_by_addition<double>(c, out);
  }
  template <typename T>
  static void fill_by_addition(KernelContext& c, Tensor& out) {
    T x = *c.input(0).data<T>();
    const T delta = *c.input(2).data<T>();
    for (int64_t i = 0; i < out.num_elements(); ++i, x += delta) out.data<T>()[i] = x;
  }
};

int64_t float_range_length(double start, double limit, double step) {
  if (step == 0) invalid_argument("A range needs a step other than 0.");
  const double n = std::ceil(std::abs((limit - start) / step));
  if (step > 0 ? start >= limit : start <= limit) return 0;
  if (!(n < static_cast<double>(Shape::kMaxElements))) {
    invalid_argument("A range from ", start, " to ", limit, " by ", step, " has no end.");
  }
  return static_cast<int64_t>(n);
}

int64_t range_length(int64_t start, int64_t limit, int64_t step) {
  if (step > 0 ? start >= limit : start <= limit) return 0;
  // Unsigned, because the distance of two int64 values may exceed the range of int64.
  const auto from = static_cast<uint64_t>(start), to = static_cast<uint64_t>(limit);
  const uint64_t distance = step > 0 ? to - from : from - to;
  const uint64_t step_size =
      step > 0 ? static_cast<uint64_t>(step) : 0 - static_cast<uint64_t>(step);
  const uint64_t n = distance / step_size + (distance % step_size != 0 ? 1 : 0);
  return n > static_cast<uint64_t>(Shape::kMaxElements) ? Shape::kMaxElements
                                                        : static_cast<int64_t>(n);
}

void range_shape(ShapeContext& c) {
  const Tensor *start = c.value(0), *limit = c.value(1), *delta = c.value(2);
  if (!start || !limit || !delta) {
    c.set_output(0, Shape{-1});
    return;
  }
  if (is_floating(start->dtype())) {
    c.set_output(0, Shape{float_range_length(start->number_at(0), limit->number_at(0),
                                             delta->number_at(0))});
    return;
  }
  const int64_t step = delta->integers()[0];
  if (step == 0) invalid_argument("A range needs a step other than 0.");
  c.set_output(0, Shape{range_length(start->integers()[0], limit->integers()[0], step)});
}

// Copies rows to the positions that the indices specify. If several rows have the same position,
// the last one is used; positions without a row are zero.
class DynamicStitchKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = c.num_inputs() / 2;
    Tensor& out = c.output(0);
    if (out.num_elements() == 0) return;
    element_copier_.begin(out, n, [&c, n](int k) -> const Tensor& { return c.input(n + k); });
    element_copier_.fill_default(0, out.num_elements());
    const int64_t row = out.num_elements() / out.shape().dim(0);
    for (int k = 0; k < n; ++k) {
      const Indices positions(c.input(k));
      for (int64_t i = 0; i < positions.size(); ++i) {
        element_copier_.copy(c.input(n + k), i * row,
                             positions.checked(i, out.shape().dim(0)) * row, row);
      }
    }
  }

 private:
  ElementCopier element_copier_;
};

// Returns the shape of the data without the leading dimensions, which are the dimensions of the
// indices.
Shape stitched_row_shape(const Shape& index, const Shape& data) {
  bool has_index_dims = data.rank() >= index.rank();
  for (int i = 0; has_index_dims && i < index.rank(); ++i) {
    has_index_dims = Shape{data.dim(i)}.is_compatible_with(Shape{index.dim(i)});
  }
  if (!has_index_dims) {
    invalid_argument("The shape of data, ", data, ", must begin with that of its indices, ", index,
                     ".");
  }
  Shape row{Shape::kUnknownDim};
  for (int i = index.rank(); i < data.rank(); ++i) row.append(data.dim(i));
  return row;
}

void dynamic_stitch_shape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  Shape out = Shape::unknown();
  int64_t rows = 0;
  for (int k = 0; k < n; ++k) {
    const Tensor* positions = c.value(k);
    if (!positions || rows < 0) {
      rows = -1;
    } else {
      for (int64_t position : positions->integers()) rows = std::max(rows, position + 1);
    }
    const Shape &data = c.input(n + k), &index = c.input(k);
    if (data.has_rank() && index.has_rank()) out = out.merge_with(stitched_row_shape(index, data));
  }
  if (out.has_rank()) out.set_dim(0, rows);
  c.set_output(0, out);
}

}  // namespace

RUNHOOKS_REGISTER_OP("Shape")
    .input("input: T")
    .output("output: out_type")
    .attr("T: type")
    .attr("out_type: {int32, int64} = DT_INT32")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape{c.input(0).has_rank() ? c.input(0).rank() : Shape::kUnknownDim});
    })
    .kernel(kernel_of<ShapeKernel>())
    .shape_dependent()
    .not_differentiable()
    .endpoint("raw_ops.Shape")
    .r("shape(input, name = NULL, out_type = 'int32')")
    .summary("The dimensions of the input.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("Size")
    .input("input: T")
    .output("output: out_type")
    .attr("T: type")
    .attr("out_type: {int32, int64} = DT_INT32")
    .shape(scalar_shape)
    .kernel(kernel_of<SizeKernel>())
    .shape_dependent()
    .not_differentiable()
    .endpoint("raw_ops.Size")
    .r("size(input, name = NULL, out_type = 'int32')")
    .summary("The number of elements of the input.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("Rank")
    .input("input: T")
    .output("output: int32")
    .attr("T: type")
    .shape(scalar_shape)
    .kernel(kernel_of<RankKernel>())
    .shape_dependent()
    .not_differentiable()
    .summary("The number of dimensions of the input.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("BroadcastGradientArgs")
    .input("s0: T, vector")
    .input("s1: T, vector")
    .output("r0: T")
    .output("r1: T")
    .attr("T: {int32, int64} = DT_INT32")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape{-1});
      c.set_output(1, Shape{-1});
    })
    .kernel(kernel_of<BroadcastGradientArgsKernel>())
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.BroadcastGradientArgs")
    .summary("The axes to sum over in the gradients of a broadcasting op.")
    .example("i{2,1,3} i{4,1}");

RUNHOOKS_REGISTER_OP("Pack")
    .input("values: N * T")
    .output("output: T")
    .attr("N: int >= 1")
    .attr("T: type")
    .attr("axis: int = 0")
    .shape(pack_shape)
    .kernel(kernel_of<PackKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      Operation* parts =
          g.op("Unpack", {dy[0]}).attr("num", op.attr_int("N")).attr("axis", op.attr_int("axis"));
      Grads grads;
      for (int i = 0; i < parts->num_outputs(); ++i) grads.push_back(parts->output(i));
      return grads;
    })
    .r("stack(values, axis = 0, name = 'stack')")
    .summary("Stacks tensors of equal shape along a new axis.")
    .example("f[2,3] f[2,3]")
    .example("f[2,3] f[2,3] | axis=1");

RUNHOOKS_REGISTER_OP("Range")
    .input("start: Tidx, scalar")
    .input("limit: Tidx, scalar")
    .input("delta: Tidx, scalar")
    .output("output: Tidx")
    .attr("Tidx: {float, double, int32, int64} = DT_INT32")
    .shape(range_shape)
    .kernel(kernel_of<RangeKernel>())
    .not_differentiable()
    .endpoint("raw_ops.Range")
    .summary("start, start + delta, ... up to limit (exclusive).")
    .example("i:0 i:5 i:2");

RUNHOOKS_REGISTER_OP("ConcatV2")
    .input("values: N * T, rank >= 1")
    .input("axis: Tidx, scalar")
    .output("output: T")
    .attr("N: int >= 1")
    .attr("T: type")
    .attr("Tidx: {int32, int64} = DT_INT32")
    .shape(concat_shape)
    .kernel(kernel_of<ConcatKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const auto n = static_cast<size_t>(op.attr_int("N"));
      const Output axis = op.input(static_cast<int>(n));
      const Output rank = g.op("Rank", {op.input(0)});
      const Output positive = g.op("FloorMod", {add(g, axis, rank), rank});
      Outputs inputs = {positive};
      for (size_t i = 0; i < n; ++i) inputs.push_back(shape_of(g, op.inputs()[i]));
      Operation* offsets = g.op("ConcatOffset", inputs);
      Grads grads;
      for (size_t i = 0; i < n; ++i) {
        grads.push_back(
            g.op("Slice", {dy[0], offsets->output(static_cast<int>(i)), inputs[i + 1]}));
      }
      grads.push_back(Gradient());
      return grads;
    })
    .endpoint("raw_ops.ConcatV2")
    .r("concat(values, axis, name = 'concat')")
    .summary("Concatenates tensors along an axis.")
    .example("f[2,3] f[2,1] i:1")
    .example("f[2,3] f[1,3] i:-2");

RUNHOOKS_REGISTER_OP("DynamicStitch")
    .input("indices: N * int32, >= 0")
    .input("data: N * T")
    .output("merged: T")
    .attr("N: int >= 1")
    .attr("T: type")
    .shape(dynamic_stitch_shape)
    .kernel(kernel_of<DynamicStitchKernel>())
    .not_differentiable()
    .summary("Copies rows of several tensors to the positions given by indices.")
    .example("i{0,2} i{1} f[2,3] f[1,3]");

}  // namespace runhooks
