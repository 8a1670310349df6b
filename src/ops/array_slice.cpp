// Ops that cut tensors and put parts together.
#include <algorithm>
#include <cstring>

#include "ops/gradient_helpers.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

using Grads = std::vector<Gradient>;
using Outputs = std::vector<Output>;

// Copies the box that starts at `from_begin` in `from` to the one that starts at `to_begin` in
// `to`.
void copy_box(const Tensor& from,
              const std::vector<int64_t>& from_begin,
              Tensor& to,
              const std::vector<int64_t>& to_begin,
              const Shape& box) {
  if (box.num_elements() == 0) return;
  const size_t size = dtype_size(from.dtype());
  const int rank = box.rank();
  const int64_t run = rank == 0 ? 1 : box.dim(rank - 1);
  const int64_t rows = rank < 2 ? 1 : box.dim(rank - 2);  // runs that are copied together
  const int64_t groups = box.num_elements() / run / rows;
  const auto stride = [size, rank](const Shape& shape) {
    return rank == 0 ? 0 : static_cast<size_t>(shape.dim(rank - 1)) * size;
  };
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  auto offset = [&index, rank](const Shape& shape, const std::vector<int64_t>& begin) {
    int64_t at = 0;
    for (int i = 0; i < rank; ++i) {
      const auto k = static_cast<size_t>(i);
      at = at * shape.dim(i) + begin[k] + index[k];
    }
    return static_cast<size_t>(at);
  };
  for (int64_t group = 0; group < groups; ++group) {
    copy_rows(static_cast<size_t>(rows), static_cast<size_t>(run) * size,
              static_cast<const char*>(from.raw()) + offset(from.shape(), from_begin) * size,
              stride(from.shape()),
              static_cast<char*>(to.raw()) + offset(to.shape(), to_begin) * size,
              stride(to.shape()));
    for (int i = rank - 3; i >= 0; --i) {
      const auto k = static_cast<size_t>(i);
      if (++index[k] < box.dim(i)) break;
      index[k] = 0;
    }
  }
}

class SliceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> begin = c.input(1).integers();
    copy_box(c.input(0), begin, c.output(0), std::vector<int64_t>(begin.size(), 0),
             c.output(0).shape());
    if (c.input(0).dtype() == DType::kString) c.output(0).set_dictionary(c.input(0).dictionary());
  }
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
    const int64_t n = sizes[i] < 0 ? (d < 0 ? -1 : d - begins[i]) : sizes[i];
    if (begins[i] < 0 || (d >= 0 && (n < 0 || begins[i] + n > d))) {
      invalid_argument("Expected begin[", i, "] in [0, ", d,
                       "] and begin + size within it; got begin ", begins[i], ", size ", sizes[i],
                       ".");
    }
    out.append(n);
  }
  c.set_output(0, out);
}

class PadKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> paddings = c.input(1).integers();
    std::vector<int64_t> before;
    for (size_t i = 0; i < paddings.size(); i += 2) before.push_back(paddings[i]);
    Tensor& out = c.output(0);
    std::memset(out.raw(), 0, out.num_bytes());
    copy_box(c.input(0), std::vector<int64_t>(before.size(), 0), out, before, c.input(0).shape());
  }
};

void pad_shape(ShapeContext& c) {
  const Tensor* paddings = c.value(1);
  const Shape& x = c.input(0);
  if (!paddings || !x.has_rank()) {
    c.set_output(0, x.has_rank() ? Shape::unknown_of_rank(x.rank()) : Shape::unknown());
    return;
  }
  const std::vector<int64_t> sizes = paddings->integers();
  if (static_cast<int>(sizes.size()) != 2 * x.rank()) {
    invalid_argument("paddings must be of shape [", x.rank(), ", 2].");
  }
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    const auto k = static_cast<size_t>(2 * i);
    out.append(x.dim(i) < 0 ? -1 : x.dim(i) + sizes[k] + sizes[k + 1]);
  }
  c.set_output(0, out);
}

// The room before and after a slice: what Pad needs to undo it.
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
      Tensor part = c.output(i).reshaped(box);
      copy_box(x, begin, part, zero, box);
      if (x.dtype() == DType::kString) c.output(i).set_dictionary(x.dictionary());
    }
  }
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

// Where each of several tensors begins in their concatenation.
class ConcatOffsetKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int64_t axis = c.input(0).integers()[0];
    int32_t at = 0;
    for (int i = 0; i < c.num_outputs(); ++i) {
      Tensor& out = c.output(i);
      std::memset(out.raw(), 0, out.num_bytes());
      out.data<int32_t>()[axis] = at;
      at += c.input(i + 1).data<int32_t>()[axis];
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("Slice")
    .input("input: T")
    .input("begin: Index")
    .input("size: Index")
    .output("output: T")
    .attr("T: type")
    .attr("Index: {int32, int64}")
    .shape(slice_shape)
    .kernel(kernel_of<SliceKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output paddings = paddings_of_slice(g, op.input(0), op.input(1), op.output(0));
      return {g.op("Pad", {dy[0], paddings}), Gradient(), Gradient()};
    })
    .summary("The box of the given size that starts at begin; size -1 is up to the end.")
    .example("f[4,3] i{1,0} i{2,-1}")
    .example("f[4,3,2] i{1,2,0} i{2,1,2}");

RUNHOOKS_REGISTER_OP("Pad")
    .input("input: T")
    .input("paddings: Tpaddings")
    .output("output: T")
    .attr("T: type")
    .attr("Tpaddings: {int32, int64} = DT_INT32")
    .shape(pad_shape)
    .kernel(kernel_of<PadKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      Operation* columns = g.op("Unpack", {op.input(1)}).attr("num", 2).attr("axis", 1);
      return {g.op("Slice", {dy[0], columns->output(0), shape_of(g, op.input(0))}), Gradient()};
    })
    .summary("The tensor with zeros around it.")
    .example("f[2,3] i[2,2]{1,0,0,2}");

RUNHOOKS_REGISTER_OP("Unpack")
    .input("value: T")
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
    .summary("The parts along an axis as tensors of their own.")
    .example("f[2,3] | num=2")
    .example("f[2,3] | num=3 axis=1");

RUNHOOKS_REGISTER_OP("ConcatOffset")
    .input("concat_dim: int32")
    .input("shape: N * int32")
    .output("offset: N * int32")
    .attr("N: int >= 1")
    .shape([](ShapeContext& c) {
      for (int i = 1; i < c.num_inputs(); ++i) c.set_output(i - 1, c.input(i));
    })
    .kernel(kernel_of<ConcatOffsetKernel>())
    .not_differentiable()
    .endpoint("raw_ops.ConcatOffset")
    .summary("Where each tensor begins in their concatenation.")
    .example("i:1 i{2,3} i{2,1}");

}  // namespace runhooks
