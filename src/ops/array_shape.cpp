// Ops on shapes and indices: what the plan computes once for each set of shapes.
#include <algorithm>
#include <cstring>

#include "ops/gradient_helpers.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

using Grads = std::vector<Gradient>;
using Outputs = std::vector<Output>;

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

// Which axes of the result of a broadcasting op each operand's gradient has to be summed over.
class BroadcastGradientArgsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> a = c.input(0).integers(), b = c.input(1).integers();
    const size_t rank = std::max(a.size(), b.size());
    for (int k = 0; k < 2; ++k) {
      const std::vector<int64_t>&own = k == 0 ? a : b, &other = k == 0 ? b : a;
      std::vector<int64_t> axes;
      for (size_t i = 0; i < rank; ++i) {
        const int64_t d = dim_from_end(own, rank - 1 - i), e = dim_from_end(other, rank - 1 - i);
        if (d == 1 && (e != 1 || rank - i > own.size())) axes.push_back(static_cast<int64_t>(i));
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
    const size_t size = dtype_size(out.dtype());
    const auto block = static_cast<size_t>(outer == 0 ? 0 : in.num_elements() / outer) * size;
    auto* to = static_cast<char*>(out.raw());
    for (int64_t o = 0; o < outer; ++o) {
      for (int k = 0; k < c.num_inputs(); ++k, to += block) {
        std::memcpy(to, static_cast<const char*>(c.input(k).raw()) + static_cast<size_t>(o) * block,
                    block);
      }
    }
  }
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
    const size_t size = dtype_size(out.dtype());
    if (out.num_elements() == 0) return;
    const size_t row = static_cast<size_t>(out.num_elements() / outer) * size;
    auto* to = static_cast<char*>(out.raw());
    for (int k = 0; k < n; ++k) {
      const Tensor& x = c.input(k);
      const size_t block = static_cast<size_t>(x.num_elements() / outer) * size;
      copy_rows(static_cast<size_t>(outer), block, static_cast<const char*>(x.raw()), block, to,
                row);
      to += block;
    }
  }
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
    Shape rest = c.input(i);
    if (i == 0 && axis < 0) axis += rest.rank();
    if (axis < 0 || axis >= rest.rank()) {
      invalid_argument("Cannot concatenate along axis ", axis_value->integers()[0], " of shape ",
                       rest, ".");
    }
    const int64_t d = rest.dim(static_cast<int>(axis));
    total = d < 0 || total < 0 ? -1 : total + d;
    rest.set_dim(static_cast<int>(axis), -1);
    out = out.merge_with(rest);
  }
  out.set_dim(static_cast<int>(axis), total);
  c.set_output(0, out);
}

class RangeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Tensor& out = c.output(0);
    const int64_t start = c.input(0).integers()[0], delta = c.input(2).integers()[0];
    for (int64_t i = 0; i < out.num_elements(); ++i) set_integer(out, i, start + i * delta);
  }
};

void range_shape(ShapeContext& c) {
  const Tensor *start = c.value(0), *limit = c.value(1), *delta = c.value(2);
  if (!start || !limit || !delta) {
    c.set_output(0, Shape{-1});
    return;
  }
  const int64_t step = delta->integers()[0];
  if (step == 0) invalid_argument("A range needs a step other than 0.");
  const int64_t distance = limit->integers()[0] - start->integers()[0];
  const int64_t n = (distance + step - (step > 0 ? 1 : -1)) / step;
  c.set_output(0, Shape{std::max<int64_t>(n, 0)});
}

// Rows of the data, each at the place that its index names; later ones win.
class DynamicStitchKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int n = c.num_inputs() / 2;
    Tensor& out = c.output(0);
    if (out.num_elements() == 0) return;
    const size_t row = out.num_bytes() / static_cast<size_t>(out.shape().dim(0));
    for (int k = 0; k < n; ++k) {
      const std::vector<int64_t> places = c.input(k).integers();
      const auto* from = static_cast<const char*>(c.input(n + k).raw());
      for (size_t i = 0; i < places.size(); ++i) {
        std::memcpy(static_cast<char*>(out.raw()) + static_cast<size_t>(places[i]) * row,
                    from + i * row, row);
      }
    }
  }
};

void dynamic_stitch_shape(ShapeContext& c) {
  const int n = c.num_inputs() / 2;
  Shape out = Shape::unknown();
  int64_t rows = 0;
  for (int k = 0; k < n; ++k) {
    const Tensor* places = c.value(k);
    if (!places || rows < 0) {
      rows = -1;
    } else {
      for (int64_t place : places->integers()) rows = std::max(rows, place + 1);
    }
    const Shape &data = c.input(n + k), &index = c.input(k);
    if (!data.has_rank() || !index.has_rank()) continue;
    Shape rest{-1};
    for (int i = index.rank(); i < data.rank(); ++i) rest.append(data.dim(i));
    out = out.merge_with(rest);
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
    .input("s0: T")
    .input("s1: T")
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
    .endpoint("stack")
    .summary("Tensors of one shape stacked along a new axis.")
    .example("f[2,3] f[2,3]")
    .example("f[2,3] f[2,3] | axis=1");

RUNHOOKS_REGISTER_OP("Range")
    .input("start: Tidx")
    .input("limit: Tidx")
    .input("delta: Tidx")
    .output("output: Tidx")
    .attr("Tidx: {int32, int64} = DT_INT32")
    .shape(range_shape)
    .kernel(kernel_of<RangeKernel>())
    .not_differentiable()
    .endpoint("raw_ops.Range")
    .summary("start, start + delta, ... up to, without, limit.")
    .example("i:0 i:5 i:2");

RUNHOOKS_REGISTER_OP("ConcatV2")
    .input("values: N * T")
    .input("axis: Tidx")
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
      std::vector<Output> inputs = {positive};
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
    .summary("Tensors joined along an axis.")
    .example("f[2,3] f[2,1] i:1")
    .example("f[2,3] f[1,3] i:-2");

RUNHOOKS_REGISTER_OP("DynamicStitch")
    .input("indices: N * int32")
    .input("data: N * T")
    .output("merged: T")
    .attr("N: int >= 1")
    .attr("T: type")
    .shape(dynamic_stitch_shape)
    .kernel(kernel_of<DynamicStitchKernel>())
    .not_differentiable()
    .summary("Rows of several tensors, each at the place that its index names.")
    .example("i{0,2} i{1} f[2,3] f[1,3]");

}  // namespace runhooks
