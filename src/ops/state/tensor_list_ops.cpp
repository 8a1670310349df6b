// Ops on lists of tensors, which TensorFlow's loops use for TensorArrays and gradients: an
// iteration pushes a value, and the gradient of the iteration pops it.
#include <cstring>

#include "ops/state/gradient_helpers.h"
#include "ops/state/tensor_list.h"

namespace runhooks {

namespace {

// Reads an element shape: a vector of dimensions, or the scalar -1 if the shape is unknown.
Shape shape_from_dims(const Tensor& dims) {
  if (dims.shape().rank() == 0) return Shape::unknown();
  return Shape(dims.integers());
}

DType element_dtype(const KernelContext& c) { return c.op().attr_type("element_dtype"); }

const TensorList& list_input(KernelContext& c) {
  const TensorList& list = list_of_tensor(c.input(0));
  if (list.dtype() != element_dtype(c)) {
    invalid_argument("Invalid data types; op elements ", dtype_name(element_dtype(c)),
                     " but list elements ", dtype_name(list.dtype()), ".");
  }
  return list;
}

// Copies numbers and strings, because the next run may overwrite their buffer. Lists are immutable.
Tensor copy_unless_list(const Tensor& x) { return x.dtype() == DType::kVariant ? x : x.copy(); }

void check_element(const TensorList& list, const Tensor& x) {
  if (list.element_shape().is_compatible_with(x.shape())) return;
  invalid_argument("Tried to append a tensor with incompatible shape to a list. Op element shape: ",
                   x.shape(), " list shape: ", list.element_shape(), ".");
}

// Returns the value of an element that was never set.
Tensor zero_element(const TensorList& list, const Shape& op_shape) {
  const Shape shape = list.element_shape().merge_with(op_shape);
  if (list.dtype() == DType::kVariant || !shape.is_fully_defined()) {
    invalid_argument("Trying to read an uninitialized element of a list of shape ", shape, ".");
  }
  return Tensor::zeros(list.dtype(), shape);
}

void set_element_output(
    KernelContext& c, int output, const TensorList& list, size_t i, const Tensor& dims) {
  const Tensor& x = list.element(i);
  c.copy_to_output(output, x.is_valid() ? x : zero_element(list, shape_from_dims(dims)));
}

size_t checked_index(const TensorList& list, const Tensor& index) {
  const int32_t i = *index.data<int32_t>();
  if (i < 0 || static_cast<size_t>(i) >= list.size()) {
    invalid_argument("Trying to access element ", i, " in a list with ", list.size(), " elements.");
  }
  return static_cast<size_t>(i);
}

class EmptyListKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    c.output(0) = list_tensor(TensorList(element_dtype(c), shape_from_dims(c.input(0))));
  }
};

class ReserveKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int32_t n = *c.input(1).data<int32_t>();
    if (n < 0)
      invalid_argument("The num_elements to reserve must be a non negative number; got ", n, ".");
    check_memory(n, sizeof(Tensor));
    const TensorList empty(element_dtype(c), shape_from_dims(c.input(0)));
    c.output(0) = list_tensor(empty.resized(static_cast<size_t>(n)));
  }
};

class ResizeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const int32_t n = *c.input(1).data<int32_t>();
    if (n < 0) invalid_argument("The size of a list must not be negative; got ", n, ".");
    check_memory(n, sizeof(Tensor));
    c.output(0) = list_tensor(list_of_tensor(c.input(0)).resized(static_cast<size_t>(n)));
  }
};

class PushBackKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TensorList& list = list_input(c);
    check_element(list, c.input(1));
    c.output(0) = list_tensor(list.with_pushed(copy_unless_list(c.input(1))));
  }
};

class PopBackKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TensorList& list = list_input(c);
    if (list.size() == 0) invalid_argument("Trying to pop from an empty list.");
    set_element_output(c, 1, list, list.size() - 1, c.input(1));
    c.output(0) = list_tensor(list.with_popped());
  }
};

class LengthKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<int32_t>() = static_cast<int32_t>(list_of_tensor(c.input(0)).size());
  }
};

class GetItemKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TensorList& list = list_input(c);
    set_element_output(c, 0, list, checked_index(list, c.input(1)), c.input(2));
  }
};

class SetItemKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TensorList& list = list_input(c);
    check_element(list, c.input(2));
    c.output(0) = list_tensor(
        list.with_element(checked_index(list, c.input(1)), copy_unless_list(c.input(2))));
  }
};

class StackKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const TensorList& list = list_input(c);
    const int64_t expected = c.op().attr_int("num_elements");
    if (expected >= 0 && expected != static_cast<int64_t>(list.size())) {
      invalid_argument("Operation expected a list with ", expected,
                       " elements but got a list with ", list.size(), " elements.");
    }
    Shape shape = list.element_shape().merge_with(shape_from_dims(c.input(1)));
    for (size_t i = 0; i < list.size(); ++i) {
      if (list.element(i).is_valid()) shape = shape.merge_with(list.element(i).shape());
    }
    if (!shape.is_fully_defined()) {
      invalid_argument("Tried to stack elements of an empty list with non-fully-defined shape ",
                       shape, ".");
    }
    Shape stacked{static_cast<int64_t>(list.size())};
    for (int d = 0; d < shape.rank(); ++d) stacked.append(shape.dim(d));
    Tensor& y = c.allocate_output(0, list.dtype(), stacked);
    if (list.dtype() == DType::kString) {
      stack_strings(list, y);
    } else {
      stack_numbers(list, y);
    }
  }

 private:
  static void stack_numbers(const TensorList& list, Tensor& y) {
    if (list.size() == 0) return;
    const size_t bytes = y.num_bytes() / list.size();
    for (size_t i = 0; i < list.size() && bytes > 0; ++i) {
      char* to = static_cast<char*>(y.raw()) + i * bytes;
      if (list.element(i).is_valid()) {
        std::memcpy(to, list.element(i).raw(), bytes);
      } else {
        std::memset(to, 0, bytes);
      }
    }
  }
  static void stack_strings(const TensorList& list, Tensor& y) {
    std::vector<std::string> strings;
    for (size_t i = 0; i < list.size(); ++i) {
      for (int64_t k = 0; k < list.element(i).num_elements(); ++k) {
        strings.push_back(list.element(i).string_at(k));
      }
    }
    const Shape shape = y.shape();
    y = Tensor::strings(shape, strings);
  }
};

class FromTensorKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Shape shape;
    for (int d = 1; d < x.shape().rank(); ++d) shape.append(x.shape().dim(d));
    const auto n = static_cast<size_t>(x.shape().dim(0));
    TensorList list(x.dtype(), shape_from_dims(c.input(1)).merge_with(shape));
    const size_t bytes = n > 0 ? x.num_bytes() / n : 0;
    for (size_t i = 0; i < n; ++i) {
      Tensor element(x.dtype(), shape);
      if (bytes > 0) {
        std::memcpy(element.raw(), static_cast<const char*>(x.raw()) + i * bytes, bytes);
      }
      if (x.dtype() == DType::kString) element.set_dictionary(x.dictionary());
      list = list.with_pushed(element);
    }
    c.output(0) = list_tensor(std::move(list));
  }
};

// Sets the shape of an output to the element shape in an input.
void set_element_shape(ShapeContext& c, int output, int input) {
  const Tensor* dims = c.value(input);
  c.set_output(output, dims ? shape_from_dims(*dims) : Shape::unknown());
}

Output element_shape_input(Graph& g, Output x) {
  return x.dtype() == DType::kVariant ? g.scalar(DType::kInt32, -1) : shape_of(g, x);
}

Operation* pop_back(Graph& g, Output list, Output like) {
  return g.op("TensorListPopBack", {list, element_shape_input(g, like)})
      .attr("element_dtype", like.dtype());
}

Gradient gradient_if_differentiable(Output gradient) {
  const bool has_gradient = is_floating(gradient.dtype()) || gradient.dtype() == DType::kVariant;
  return has_gradient ? Gradient(gradient) : Gradient();
}

}  // namespace

// The kernels allocate their outputs, because the sizes depend on the lists' contents.
#define RUNHOOKS_LIST_OP(type) \
  RUNHOOKS_REGISTER_OP(type).allocates_outputs().endpoint("raw_ops." type)

RUNHOOKS_LIST_OP("EmptyTensorList")
    .input("element_shape: shape_type, rank <= 1")
    .input("max_num_elements: int32, scalar")
    .output("handle: variant")
    .attr("element_dtype: type")
    .attr("shape_type: {int32, int64}")
    .shape(scalar_shape)
    .kernel(kernel_of<EmptyListKernel>())
    .not_differentiable()
    .summary("An empty list.");

RUNHOOKS_LIST_OP("TensorListReserve")
    .input("element_shape: shape_type, rank <= 1")
    .input("num_elements: int32, scalar")
    .output("handle: variant")
    .attr("element_dtype: type")
    .attr("shape_type: {int32, int64}")
    .shape(scalar_shape)
    .kernel(kernel_of<ReserveKernel>())
    .not_differentiable()
    .summary("A list with unset elements.");

RUNHOOKS_LIST_OP("TensorListResize")
    .input("input_handle: variant")
    .input("size: int32, scalar")
    .output("output_handle: variant")
    .shape(scalar_shape)
    .kernel(kernel_of<ResizeKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output length = g.op("TensorListLength", {op.input(0)});
      return {g.op("TensorListResize", {dy[0], length}), Gradient()};
    })
    .summary("Resizes a list; new elements are unset.");

RUNHOOKS_LIST_OP("TensorListPushBack")
    .input("input_handle: variant")
    .input("tensor: element_dtype")
    .output("output_handle: variant")
    .attr("element_dtype: type")
    .shape(scalar_shape)
    .kernel(kernel_of<PushBackKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      Operation* popped = pop_back(g, dy[0], op.input(1));
      return {popped->output(0), gradient_if_differentiable(popped->output(1))};
    })
    .summary("Appends an element to a list.");

RUNHOOKS_LIST_OP("TensorListPopBack")
    .input("input_handle: variant")
    .input("element_shape: int32, rank <= 1")
    .output("output_handle: variant")
    .output("tensor: element_dtype")
    .attr("element_dtype: type")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape());
      set_element_shape(c, 1, 1);
    })
    .kernel(kernel_of<PopBackKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("TensorListPushBack", {dy[0], dy[1]})
                  .attr("element_dtype", op.attr_type("element_dtype")),
              Gradient()};
    })
    .summary("Removes the last element of a list and returns both.");

RUNHOOKS_REGISTER_OP("TensorListLength")
    .input("input_handle: variant")
    .output("length: int32")
    .shape(scalar_shape)
    .kernel(kernel_of<LengthKernel>())
    .not_differentiable()
    .endpoint("raw_ops.TensorListLength")
    .summary("The number of elements in a list.");

RUNHOOKS_LIST_OP("TensorListGetItem")
    .input("input_handle: variant")
    .input("index: int32, scalar")
    .input("element_shape: int32, rank <= 1")
    .output("item: element_dtype")
    .attr("element_dtype: type")
    .shape([](ShapeContext& c) { set_element_shape(c, 0, 2); })
    .kernel(kernel_of<GetItemKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output length = g.op("TensorListLength", {op.input(0)});
      const Output zeros = g.op("TensorListReserve", {element_shape_input(g, dy[0]), length})
                               .attr("element_dtype", dy[0].dtype());
      const Output list = g.op("TensorListSetItem", {zeros, op.input(1), dy[0]})
                              .attr("element_dtype", dy[0].dtype());
      return {list, Gradient(), Gradient()};
    })
    .summary("An element of a list.");

RUNHOOKS_LIST_OP("TensorListSetItem")
    .input("input_handle: variant")
    .input("index: int32, scalar")
    .input("item: element_dtype")
    .output("output_handle: variant")
    .attr("element_dtype: type")
    .shape(scalar_shape)
    .kernel(kernel_of<SetItemKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const DType dtype = op.attr_type("element_dtype");
      const Output zeros = g.op("ZerosLike", {op.input(2)});
      const Output list =
          g.op("TensorListSetItem", {dy[0], op.input(1), zeros}).attr("element_dtype", dtype);
      const Output item =
          g.op("TensorListGetItem", {dy[0], op.input(1), element_shape_input(g, op.input(2))})
              .attr("element_dtype", dtype);
      return {list, Gradient(), gradient_if_differentiable(item)};
    })
    .summary("Replaces an element of a list.");

RUNHOOKS_LIST_OP("TensorListStack")
    .input("input_handle: variant")
    .input("element_shape: int32, rank <= 1")
    .output("tensor: element_dtype")
    .attr("element_dtype: type")
    .attr("num_elements: int = -1")
    .shape([](ShapeContext& c) {
      const Tensor* dims = c.value(1);
      const Shape element = dims ? shape_from_dims(*dims) : Shape::unknown();
      if (!element.has_rank()) return;
      Shape stacked{c.op().attr_int("num_elements")};
      for (int d = 0; d < element.rank(); ++d) stacked.append(element.dim(d));
      c.set_output(0, stacked);
    })
    .kernel(kernel_of<StackKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("TensorListFromTensor", {dy[0], op.input(1)}), Gradient()};
    })
    .summary("Stacks the elements of a list into a tensor.");

RUNHOOKS_LIST_OP("TensorListFromTensor")
    .input("tensor: element_dtype, rank >= 1")
    .input("element_shape: shape_type, rank <= 1")
    .output("output_handle: variant")
    .attr("element_dtype: type")
    .attr("shape_type: {int32, int64}")
    .shape(scalar_shape)
    .kernel(kernel_of<FromTensorKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      const Output shape = g.op("Shape", {op.input(0)});
      const Output element = g.op("Slice", {shape, g.int_vector({1}), g.int_vector({-1})});
      return {g.op("TensorListStack", {dy[0], element})
                  .attr("element_dtype", op.attr_type("element_dtype")),
              Gradient()};
    })
    .summary("Converts the rows of a tensor to a list.");

}  // namespace runhooks
