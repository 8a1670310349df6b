// Ops that create variables and read or modify their values. A reference variable (VariableV2)
// outputs its value; a resource variable (VarHandleOp) outputs a handle, which other ops read.
#include "graph/variable.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

VariableState& variable_state(KernelContext& c) {
  return c.resources().get_or_create<VariableState>(c.op().name(), [&c] {
    return std::make_unique<VariableState>(c.op().name(), c.op().attr_type("dtype"));
  });
}

// The output of a reference variable aliases its value.
class VariableKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    state_ = &variable_state(c);
    c.set_output_resource(0, state_);
  }
  void compute(KernelContext& c) override {
    if (state_->is_initialized()) c.alias_output(0, state_->value());
  }

 private:
  VariableState* state_ = nullptr;
};

class VarHandleKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override { c.set_output_resource(0, &variable_state(c)); }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

class ReadVariableKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    VariableState& state = initialized_variable(c, 0);
    if (!c.needs_snapshot) {
      c.alias_output(0, state.value());
      return;
    }
    Tensor& copy = c.allocate_output(0, state.value().dtype(), state.value().shape());
    std::memcpy(copy.raw(), state.value().raw(), copy.num_bytes());
    if (copy.dtype() == DType::kString) copy.set_dictionary(state.value().dictionary());
  }
};

class AssignKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& state = c.input_resource<VariableState>(0);
    const Tensor& value = c.input(1);
    if (state.is_initialized() && state.value().shape() != value.shape() &&
        validates_shape(c.op())) {
      invalid_argument("Assign requires shapes of both tensors to match: variable ",
                       state.value().shape(), ", value ", value.shape(), ".");
    }
    state.assign(value);
    forward_variable(c);
  }

 private:
  static bool validates_shape(const Operation& op) {
    const AttrValue* attr = op.attrs().find("validate_shape");
    return !attr || std::get<bool>(*attr);
  }
};

template <typename T, int kSign>
class AssignUpdateKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    VariableState& state = initialized_variable(c, 0);
    const Tensor& delta = c.input(1);
    if (state.value().shape() != delta.shape()) {
      invalid_argument("The shapes of the variable, ", state.value().shape(),
                       ", and of the value, ", delta.shape(), ", must be the same.");
    }
    T* value = state.value().template data<T>();
    const T* change = delta.data<T>();
    for (int64_t i = 0; i < delta.num_elements(); ++i) {
      value[i] =
          kSign > 0 ? wrapping_add(value[i], change[i]) : wrapping_subtract(value[i], change[i]);
    }
    forward_variable(c);
  }
};
template <typename T>
using AssignAddKernel = AssignUpdateKernel<T, 1>;
template <typename T>
using AssignSubKernel = AssignUpdateKernel<T, -1>;

class IsInitializedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<bool>() = c.input_resource<VariableState>(0).is_initialized();
  }
};

void shape_from_attr(ShapeContext& c) { c.set_output(0, c.op().attr<Shape>("shape")); }

Shape handle_shape(const ShapeContext& c) { return declared_shape(*c.op().input(0).op); }

void check_value_shape(ShapeContext& c) {
  if (!handle_shape(c).is_compatible_with(c.input(1))) {
    invalid_argument("A value of shape ", c.input(1), " cannot be assigned to a variable of shape ",
                     handle_shape(c), ".");
  }
}

void update_shape(ShapeContext& c) {
  check_value_shape(c);
  c.set_output(0, handle_shape(c));
}

}  // namespace

RUNHOOKS_REGISTER_OP("VariableV2")
    .output("ref: Ref(dtype)")
    .attr("shape: shape")
    .attr("dtype: type")
    .attr("container: string = ''")
    .attr("shared_name: string = ''")
    .shape(shape_from_attr)
    .kernel(kernel_of<VariableKernel>())
    .holds_variable()
    .not_differentiable()
    .endpoint("raw_ops.VariableV2")
    .summary("A reference variable: the output is its value.");

RUNHOOKS_REGISTER_OP("VarHandleOp")
    .output("resource: resource")
    .attr("container: string = ''")
    .attr("shared_name: string = ''")
    .attr("dtype: type")
    .attr("shape: shape")
    .shape(scalar_shape)
    .kernel(kernel_of<VarHandleKernel>())
    .holds_variable()
    .not_differentiable()
    .endpoint("raw_ops.VarHandleOp")
    .summary("A handle to a resource variable.");

RUNHOOKS_REGISTER_OP("ReadVariableOp")
    .input("resource: resource, variable of dtype")
    .output("value: dtype")
    .attr("dtype: type")
    .shape([](ShapeContext& c) { c.set_output(0, handle_shape(c)); })
    .kernel(kernel_of<ReadVariableKernel>())
    .reads_variable()
    .allocates_outputs()
    // The gradient with respect to a resource variable is the gradient with respect to its handle.
    .gradient([](Graph&, Operation&, const Outputs& dy) -> Grads { return {dy[0]}; })
    .endpoint("raw_ops.ReadVariableOp")
    .summary("The value of a variable.");

RUNHOOKS_REGISTER_OP("Assign")
    .input("ref: Ref(T)")
    .input("value: T")
    .output("output_ref: Ref(T)")
    .attr("T: type")
    .attr("validate_shape: bool = true")
    .attr("use_locking: bool = true")
    .shape([](ShapeContext& c) {
      if (c.op().attr_bool("validate_shape")) check_value_shape(c);
      c.set_output(0, c.op().attr_bool("validate_shape") ? handle_shape(c) : c.input(1));
    })
    .kernel(kernel_of<AssignKernel>())
    .mutates(0)
    .not_differentiable()
    .endpoint("raw_ops.Assign")
    .summary("Assigns a value to a variable.");

RUNHOOKS_REGISTER_OP("AssignAdd")
    .input("ref: Ref(T)")
    .input("value: T")
    .output("output_ref: Ref(T)")
    .attr("T: numbertype")
    .attr("use_locking: bool = false")
    .shape(update_shape)
    .kernel(kernel_by_type<AssignAddKernel, float, double, int32_t, int64_t>())
    .mutates(0)
    .not_differentiable()
    .endpoint("raw_ops.AssignAdd")
    .summary("Adds to a variable.");

RUNHOOKS_REGISTER_OP("AssignSub")
    .input("ref: Ref(T)")
    .input("value: T")
    .output("output_ref: Ref(T)")
    .attr("T: numbertype")
    .attr("use_locking: bool = false")
    .shape(update_shape)
    .kernel(kernel_by_type<AssignSubKernel, float, double, int32_t, int64_t>())
    .mutates(0)
    .not_differentiable()
    .endpoint("raw_ops.AssignSub")
    .summary("Subtracts from a variable.");

RUNHOOKS_REGISTER_OP("IsVariableInitialized")
    .input("ref: Ref(dtype)")
    .output("is_initialized: bool")
    .attr("dtype: type")
    .shape(scalar_shape)
    .kernel(kernel_of<IsInitializedKernel>())
    .stateful()
    .not_differentiable()
    .r("is_variable_initialized(variable as ref)")
    .summary("Whether a variable has a value.");

RUNHOOKS_REGISTER_OP("AssignVariableOp")
    .input("resource: resource, variable of dtype")
    .input("value: dtype")
    .attr("dtype: type")
    .shape(check_value_shape)
    .kernel(kernel_of<AssignKernel>())
    .mutates(0)
    .not_differentiable()
    .endpoint("raw_ops.AssignVariableOp")
    .summary("Assigns a value to a variable.");

RUNHOOKS_REGISTER_OP("AssignAddVariableOp")
    .input("resource: resource, variable of dtype")
    .input("value: dtype")
    .attr("dtype: type")
    .shape(check_value_shape)
    .kernel(kernel_by_type<AssignAddKernel, float, double, int32_t, int64_t>("dtype"))
    .mutates(0)
    .not_differentiable()
    .endpoint("raw_ops.AssignAddVariableOp")
    .summary("Adds to a variable.");

RUNHOOKS_REGISTER_OP("AssignSubVariableOp")
    .input("resource: resource, variable of dtype")
    .input("value: dtype")
    .attr("dtype: type")
    .shape(check_value_shape)
    .kernel(kernel_by_type<AssignSubKernel, float, double, int32_t, int64_t>("dtype"))
    .mutates(0)
    .not_differentiable()
    .endpoint("raw_ops.AssignSubVariableOp")
    .summary("Subtracts from a variable.");

RUNHOOKS_REGISTER_OP("VarIsInitializedOp")
    .input("resource: resource, variable")
    .output("is_initialized: bool")
    .shape(scalar_shape)
    .kernel(kernel_of<IsInitializedKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.VarIsInitializedOp")
    .summary("Whether a variable has a value.");

}  // namespace runhooks
