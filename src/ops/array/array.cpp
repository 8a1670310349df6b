#include <algorithm>
#include <cstring>

#include "ops/array/copy_elements.h"
#include "ops/state/gradient_helpers.h"
#include "ops/state/tensor_list.h"

namespace runhooks {

namespace {

class ConstKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override { c.alias_output(0, c.op().attr<Tensor>("value")); }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

// Copies the inputs, because OpDef::forwards lets only output 0 share the buffer of input 0.
class IdentityNKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    for (int i = 0; i < c.num_inputs(); ++i) {
      const Tensor& x = c.input(i);
      Tensor& y = c.allocate_output(i, x.dtype(), x.shape());
      if (x.dtype() == DType::kString) y.set_dictionary(x.dictionary());
      if (x.num_elements() > 0) std::memcpy(y.raw(), x.raw(), x.num_bytes());
    }
  }
};

class UnfedPlaceholderKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    invalid_argument("You must feed a value for placeholder tensor '", c.op().name(),
                     "' with dtype ", dtype_name(c.op().attr_type("dtype")), " and shape ",
                     c.op().attr<Shape>("shape"), ".");
  }
};

void constant_shape(ShapeContext& c) {
  const auto& value = c.op().attr<Tensor>("value");
  const DType declared = c.op().attr_type("dtype");
  if (dtype_size(declared) == 0) {
    invalid_argument("A constant cannot be a handle of type ", dtype_name(declared),
                     "; pass a variable, a table or an iterator instead of a plain value.");
  }
  if (value.dtype() != declared) {
    invalid_argument("A constant's value of type ", dtype_name(value.dtype()),
                     " does not match its attribute 'dtype', ", dtype_name(declared), ".");
  }
  c.set_output(0, value.shape());
}

Shape shape_from(const Tensor& dims) {
  Shape shape;
  for (int64_t d : dims.integers()) shape.append(d);
  return shape;
}

// Infers what is known about the shape that the tensor `dims` contains. `dims` may be the shape of
// another tensor, or stacked from constants (Pack).
Shape shape_from_op(const Output& dims) {
  const Operation& op = *dims.op;
  if (op.type() == "Shape") return op.input(0).shape();
  const Shape& vector = dims.shape();
  if (!vector.has_rank() || vector.rank() != 1 || vector.dim(0) < 0) return Shape::unknown();
  Shape shape = Shape::unknown_of_rank(static_cast<int>(vector.dim(0)));
  if (op.type() != "Pack") return shape;
  for (int i = 0; i < shape.rank(); ++i) {
    const Operation& part = *op.input(i).op;
    if (part.type() != "Const") continue;
    const int64_t dim = part.attr<Tensor>("value").integers()[0];
    if (dim >= 0) shape.set_dim(i, dim);
  }
  return shape;
}

void reshape_shape(ShapeContext& c) {
  const Tensor* dims = c.value(1);
  if (!dims) {
    c.set_output(0, shape_from_op(c.op().input(1)));
    return;
  }
  Shape out = shape_from(*dims), known_dims = out;
  int unknown = -1;
  for (int i = 0; i < out.rank(); ++i) {
    if (out.dim(i) >= 0) continue;
    if (unknown >= 0) {
      invalid_argument("Only one dimension of a new shape may be -1; got ", out, ".");
    }
    unknown = i;
    known_dims.set_dim(i, 1);
  }
  const int64_t known = known_dims.num_elements();
  if (c.input(0).is_fully_defined()) {
    const int64_t n = c.input(0).num_elements();
    if (unknown >= 0 && known > 0 && n % known == 0) out.set_dim(unknown, n / known);
    if (!out.is_fully_defined() || out.num_elements() != n) {
      invalid_argument("Cannot reshape a tensor with ", n, " elements to shape ", shape_from(*dims),
                       ".");
    }
  }
  c.set_output(0, out);
}

void expand_dims_shape(ShapeContext& c) {
  const Tensor* dim = c.value(1);
  const Shape& x = c.input(0);
  if (!dim || !x.has_rank()) {
    c.set_output(0, x.has_rank() ? Shape::unknown_of_rank(x.rank() + 1) : Shape::unknown());
    return;
  }
  if (dim->num_elements() != 1) {
    invalid_argument("The dimension to insert must be one number; got shape ", dim->shape(), ".");
  }
  const int64_t dim_argument = dim->integers()[0];
  const int64_t axis = dim_argument < 0 ? dim_argument + x.rank() + 1 : dim_argument;
  if (axis < 0 || axis > x.rank()) {
    invalid_argument("Cannot insert dimension ", dim_argument, " in a tensor of ", x.rank(),
                     " dimensions.");
  }
  Shape out;
  for (int i = 0; i <= x.rank(); ++i) {
    if (i == axis) out.append(1);
    if (i < x.rank()) out.append(x.dim(i));
  }
  c.set_output(0, out);
}

void squeeze_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  const auto& axes = c.op().attr<std::vector<int64_t>>("squeeze_dims");
  if (!x.has_rank()) {
    c.set_output(0, Shape::unknown());
    return;
  }
  std::vector<bool> is_dropped(static_cast<size_t>(x.rank()), false);
  for (int64_t axis : axes) {
    const int64_t positive = axis < 0 ? axis + x.rank() : axis;
    if (positive < 0 || positive >= x.rank()) {
      invalid_argument("Cannot squeeze dimension ", axis, " of a tensor of shape ", x, ".");
    }
    const int64_t size = x.dim(static_cast<int>(positive));
    if (size != 1 && size != Shape::kUnknownDim) {
      invalid_argument("Can not squeeze dim[", axis, "], expected a dimension of 1, got ", size,
                       ".");
    }
    is_dropped[static_cast<size_t>(positive)] = true;
  }
  if (axes.empty()) {
    for (int i = 0; i < x.rank(); ++i) {
      if (x.dim(i) < 0) {
        c.set_output(0, Shape::unknown());
        return;
      }
      is_dropped[static_cast<size_t>(i)] = x.dim(i) == 1;
    }
  }
  Shape out;
  for (int i = 0; i < x.rank(); ++i) {
    if (!is_dropped[static_cast<size_t>(i)]) out.append(x.dim(i));
  }
  c.set_output(0, out);
}

void set_shape_from_input(ShapeContext& c, int input) {
  const Tensor* dims = c.value(input);
  const Shape& vector = c.input(input);
  if (dims) {
    c.set_output(0, shape_from(*dims));
  } else if (vector.has_rank() && vector.rank() == 1 && vector.dim(0) >= 0) {
    c.set_output(0, Shape::unknown_of_rank(static_cast<int>(vector.dim(0))));
  } else {
    c.set_output(0, Shape::unknown());
  }
}

void broadcast_to_shape(ShapeContext& c) {
  set_shape_from_input(c, 1);
  const Shape &from = c.input(0), &to = c.outputs()[0];
  if (!from.has_rank() || !to.has_rank()) return;
  if (from.rank() > to.rank() || !broadcast_shapes(from, to).is_compatible_with(to)) {
    invalid_argument("A tensor of shape ", from, " cannot be broadcast to shape ", to, ".");
  }
}

Grads reshape_gradient(Graph& g, Operation& op, const Outputs& dy) {
  Grads grads(op.inputs().size());
  grads[0] = g.op("Reshape", {dy[0], shape_of(g, op.input(0))});
  return grads;
}

class FillKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Tensor& out = c.output(0);
    element_copier_.begin(out, c.input(1));
    element_copier_.fill(c.input(1), 0, 0, out.num_elements());
  }

 private:
  ElementCopier element_copier_;
};

class ZerosLikeKernel : public Kernel {
 public:
  // No other op writes the output, so it is filled only once, in prepare(). Strings become empty.
  void prepare(KernelContext& c) override {
    Tensor& out = c.output(0);
    ElementCopier copier;
    copier.begin(out, 0, [&out](int) -> const Tensor& { return out; });
    copier.fill_default(0, out.num_elements());
  }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

// Repeats the input along the dimensions in which it has size 1 and the output is larger.
class BroadcastToKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    size_ = dtype_size(c.input(0).dtype());
    from_ = &c.input(0);
    to_ = &c.output(0);
  }
  void compute(KernelContext& c) override {
    if (to_->num_elements() == 0) return;
    if (from_->num_elements() == 1) {
      fill_from_first(to_->num_elements());
    } else {
      copy(static_cast<const char*>(from_->raw()), static_cast<char*>(to_->raw()), 0);
    }
    if (c.input(0).dtype() == DType::kString) to_->set_dictionary(from_->dictionary());
  }

 private:
  void fill_from_first(int64_t n) {
    auto* out = static_cast<char*>(to_->raw());
    if (size_ == sizeof(float)) {
      uint32_t bits;
      std::memcpy(&bits, from_->raw(), sizeof bits);
      auto* elements = reinterpret_cast<uint32_t*>(out);
      for (int64_t i = 0; i < n; ++i) elements[i] = bits;
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(out + static_cast<size_t>(i) * size_, from_->raw(), size_);
  }

  // Writes the output for the dimensions from `axis` on, recursively. Returns the end of the block.
  char* copy(const char* from, char* to, int axis) {
    const Shape& out = to_->shape();
    const int added_dims = out.rank() - from_->shape().rank();
    if (axis == out.rank()) {
      std::memcpy(to, from, size_);
      return to + size_;
    }
    const int64_t input_dim = axis < added_dims ? 1 : from_->shape().dim(axis - added_dims);
    int64_t stride = static_cast<int64_t>(size_);
    for (int i = std::max(axis - added_dims + 1, 0); i < from_->shape().rank(); ++i) {
      stride *= from_->shape().dim(i);
    }
    char* const begin = to;
    for (int64_t i = 0; i < out.dim(axis); ++i) {
      if (input_dim == 1 && i > 0) {
        const auto block = static_cast<size_t>(to - begin) / static_cast<size_t>(i);
        std::memcpy(to, begin, block);
        to += block;
      } else {
        to = copy(from + (input_dim == 1 ? 0 : i * stride), to, axis + 1);
      }
    }
    return to;
  }

  size_t size_ = 0;
  const Tensor* from_ = nullptr;
  Tensor* to_ = nullptr;
};

}  // namespace

RUNHOOKS_REGISTER_OP("Const")
    .output("output: dtype")
    .attr("value: tensor")
    .attr("dtype: type")
    .shape(constant_shape)
    .constant()
    .kernel(kernel_of<ConstKernel>())
    .not_differentiable()
    .endpoint("raw_ops.Const")
    .summary("A constant tensor.");

RUNHOOKS_REGISTER_OP("Placeholder")
    .output("output: dtype")
    .attr("dtype: type")
    .attr("shape: shape = unknown")
    .shape([](ShapeContext& c) { c.set_output(0, c.op().attr<Shape>("shape")); })
    .kernel(kernel_of<UnfedPlaceholderKernel>())
    .stateful()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.Placeholder")
    .r("placeholder(dtype, shape = NULL, name = NULL)")
    .summary("A tensor that must be fed.");

RUNHOOKS_REGISTER_OP("PlaceholderWithDefault")
    .input("input: dtype")
    .output("output: dtype")
    .attr("dtype: type")
    .attr("shape: shape")
    .shape([](ShapeContext& c) {
      const Shape& declared = c.op().attr<Shape>("shape");
      c.set_output(0, c.input(0).is_fully_defined() && declared.is_fully_defined()
                          ? declared.merge_with(c.input(0))
                          : (c.value(0) ? c.input(0) : declared));
    })
    .forwards()
    .not_differentiable()
    .endpoint("placeholder_with_default")
    .summary("A tensor that may be fed and has a default.")
    .example("f[2] | shape=[2]");

RUNHOOKS_REGISTER_OP("Identity")
    .input("input: T")
    .output("output: T")
    .attr("T: type")
    .shape(unchanged_shape)
    .identity()
    .gradient([](Graph&, Operation&, const Outputs& dy) -> Grads { return {dy[0]}; })
    .summary("The input under another name.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("IdentityN")
    .input("input: T")
    .output("output: T")
    .attr("T: list(type)")
    .shape([](ShapeContext& c) {
      for (int i = 0; i < c.num_inputs(); ++i) c.set_output(i, c.input(i));
    })
    .kernel(kernel_of<IdentityNKernel>())
    .allocates_outputs()
    .gradient([](Graph&, Operation&, const Outputs& dy) -> Grads {
      Grads grads;
      for (const Output& d : dy) grads.push_back(is_floating(d.dtype()) ? Gradient(d) : Gradient());
      return grads;
    })
    .endpoint("identity_n")
    .summary("The inputs as the outputs of one op.")
    .example("f[2,3] i{1,2}");

RUNHOOKS_REGISTER_OP("StopGradient")
    .input("input: T")
    .output("output: T")
    .attr("T: type")
    .shape(unchanged_shape)
    .forwards()
    .not_differentiable()
    .summary("The input; blocks gradients.")
    .example("f[2,3]");

RUNHOOKS_REGISTER_OP("EnsureShape")
    .input("input: T")
    .output("output: T")
    .attr("shape: shape")
    .attr("T: type")
    .shape([](ShapeContext& c) {
      const Shape& wanted = c.op().attr<Shape>("shape");
      if (!wanted.is_compatible_with(c.input(0))) {
        invalid_argument("The tensor has shape ", c.input(0),
                         ", which is not compatible with the expected shape ", wanted, ".");
      }
      c.set_output(0, wanted.merge_with(c.input(0)));
    })
    .forwards()
    .gradient([](Graph&, Operation&, const Outputs& dy) -> Grads { return {dy[0]}; })
    .r("ensure_shape(x as input, shape, name = NULL)")
    .summary("The input; an error if its shape is not the expected one.")
    .example("f[2,3] | shape=[2,3]");

RUNHOOKS_REGISTER_OP("Reshape")
    .input("tensor: T")
    .input("shape: Tshape, vector, >= -1")
    .output("output: T")
    .attr("T: type")
    .attr("Tshape: {int32, int64} = DT_INT32")
    .shape(reshape_shape)
    .forwards()
    .gradient(reshape_gradient)
    .summary("Changes the shape; one dimension may be -1.")
    .example("f[2,3] i{3,2}")
    .example("f[2,3] i{-1}");

RUNHOOKS_REGISTER_OP("ExpandDims")
    .input("input: T")
    .input("dim: Tdim, rank <= 1, not empty")
    .output("output: T")
    .attr("T: type")
    .attr("Tdim: {int32, int64} = DT_INT32")
    .shape(expand_dims_shape)
    .forwards()
    .gradient(reshape_gradient)
    .endpoint("raw_ops.ExpandDims")
    .r("expand_dims(input, axis as dim = NULL, name = NULL, dim = NULL)")
    .r("raw_ops.ExpandDims(input, axis as dim, name = NULL)")
    .summary("Inserts a dimension of 1.")
    .example("f[2,3] i:-1");

RUNHOOKS_REGISTER_OP("Squeeze")
    .input("input: T")
    .output("output: T")
    .attr("T: type")
    .attr("squeeze_dims: list(int) = []")
    .shape(squeeze_shape)
    .forwards()
    .gradient(reshape_gradient)
    .endpoint("raw_ops.Squeeze")
    .r("squeeze(input, axis as squeeze_dims = NULL, name = NULL, squeeze_dims = NULL)")
    .r("raw_ops.Squeeze(input, axis as squeeze_dims = list(), name = NULL)")
    .summary("Removes dimensions of 1.")
    .example("f[2,1,3]");

RUNHOOKS_REGISTER_OP("Fill")
    .input("dims: index_type, vector, >= 0")
    .input("value: T, scalar")
    .output("output: T")
    .attr("T: type")
    .attr("index_type: {int32, int64} = DT_INT32")
    .shape([](ShapeContext& c) { set_shape_from_input(c, 0); })
    .kernel(kernel_of<FillKernel>())
    .gradient([](Graph& g, Operation&, const Outputs& dy) -> Grads {
      const Output axes = g.op(
          "Range", {g.scalar(DType::kInt32, 0), g.op("Rank", {dy[0]}), g.scalar(DType::kInt32, 1)});
      return {Gradient(), g.op("Sum", {dy[0], axes})};
    })
    .summary("A tensor filled with one value.")
    .example("i{2,3} f[]");

RUNHOOKS_REGISTER_OP("ZerosLike")
    .input("x: T")
    .output("y: T")
    .attr("T: {float, double, int32, int64, bool, string, variant}")
    .shape(unchanged_shape)
    .kernel([](const Operation& op) -> std::unique_ptr<Kernel> {
      if (op.attr_type("T") == DType::kVariant) return make_list_zeros();
      return std::make_unique<ZerosLikeKernel>();
    })
    .not_differentiable()
    .endpoint("raw_ops.ZerosLike")
    .summary("Zeros with the shape and type of x; empty strings for strings.")
    .example("f[2,3]")
    .example("s{a,b}");

RUNHOOKS_REGISTER_OP("BroadcastTo")
    .input("input: T")
    .input("shape: Tidx, vector, >= 0")
    .output("output: T")
    .attr("T: type")
    .attr("Tidx: {int32, int64} = DT_INT32")
    .shape(broadcast_to_shape)
    .kernel(kernel_of<BroadcastToKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output shape = shape_of(g, op.input(0));
      Operation* args = g.op("BroadcastGradientArgs", {shape, shape_of(g, op.output(0))});
      const Output sum = g.op("Sum", {dy[0], args->output(0)});
      return {g.op("Reshape", {sum, shape}), Gradient()};
    })
    .summary("Broadcasts the tensor to a larger shape.")
    .example("f[3] i{2,3}")
    .example("f[2,1,3] i{4,2,5,3}")
    .example("f[] i{2}");

}  // namespace runhooks
