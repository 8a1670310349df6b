#include "ops/state/conditional_accumulator.h"

#include <algorithm>
#include <memory>

#include "graph/op_registry.h"
#include "graph/resource_kernel.h"
#include "graph/saveable.h"

namespace runhooks {

namespace {

class Accumulator : public StatefulResource {
 public:
  Accumulator(const Shape& shape, bool is_mean)
      : shape_(shape), is_mean_(is_mean), sum_(Tensor::zeros(DType::kFloat32, shape)) {}
  static std::unique_ptr<StatefulResource> make(const Operation& op) {
    const auto& shape = op.attr<Shape>("shape");
    if (!shape.is_fully_defined()) {
      invalid_argument("An accumulator needs a shape that is known, not ", shape, ".");
    }
    return std::make_unique<Accumulator>(shape, op.attr<std::string>("reduction_type") == "MEAN");
  }
  const char* kind() const override { return "accumulator"; }

  // Saves the sum only if it has values, because otherwise it is zero.
  NamedTensors save_state() const override {
    NamedTensors state = {{"step", Tensor::scalar<int64_t>(step_)},
                          {"count", Tensor::scalar<int64_t>(count_)}};
    if (count_ > 0) state["sum"] = sum_.copy();
    return state;
  }
  void restore_state(const NamedTensors& state) override {
    const int64_t step = state_integer(state, "step"), count = state_integer(state, "count");
    Tensor sum = Tensor::zeros(DType::kFloat32, shape_);
    if (step < 0 || count < 0) fail(Code::kDataLoss, "Its count of values is ", count, ".");
    if (count > 0) {
      const auto found = state.find("sum");
      if (found == state.end() || found->second.dtype() != DType::kFloat32 ||
          found->second.shape() != shape_) {
        fail(Code::kDataLoss, "Its sum is not float32 of shape ", shape_, ".");
      }
      sum = found->second.copy();
    }
    step_ = step;
    count_ = count;
    sum_ = sum;
  }

  // Adds a value, unless it was computed for an earlier step than the accumulator's.
  void apply(int64_t step, const Tensor& value) {
    if (value.shape() != shape_) {
      invalid_argument("Expected shape ", shape_, ", got ", value.shape(), ".");
    }
    if (step < step_) return;
    float* sum = sum_.data<float>();
    const auto* x = value.data<float>();
    for (int64_t i = 0; i < value.num_elements(); ++i) sum[i] += x[i];
    ++count_;
  }
  // Writes the sum or mean to `out`, resets the sum, and advances to the next step.
  void take(int64_t required, float* out) {
    if (count_ < std::max<int64_t>(required, 1)) {
      fail(Code::kFailedPrecondition, "The accumulator has ", count_, " values, but ", required,
           " are required, and no other step can add more.");
    }
    float* sum = sum_.data<float>();
    const float divisor = is_mean_ ? static_cast<float>(count_) : 1.0f;
    for (int64_t i = 0; i < sum_.num_elements(); ++i) {
      out[i] = sum[i] / divisor;
      sum[i] = 0;
    }
    count_ = 0;
    ++step_;
  }
  int64_t count() const { return count_; }
  void set_step(int64_t step) { step_ = std::max(step_, step); }
  const Shape& shape() const { return shape_; }

 private:
  Shape shape_;
  bool is_mean_;
  int64_t step_ = 0, count_ = 0;
  Tensor sum_;
};

class AccumulatorSaveable : public ResourceSaveable {
 public:
  explicit AccumulatorSaveable(const Operation& op)
      : ResourceSaveable(op, str_cat("runhooks/accumulator/", escape_path_component(op.name()), "/")) {}
  bool is_model_state() const override { return false; }

 protected:
  std::string describe() const override {
    return str_cat("The state of accumulator '", op()->name(), "'");
  }
};

Accumulator& accumulator_of(KernelContext& c) { return c.input_resource<Accumulator>(0); }

class ApplyGradientKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    accumulator_of(c).apply(*c.input(1).data<int64_t>(), c.input(2));
  }
};

class NumAccumulatedKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    *c.output(0).data<int32_t>() = static_cast<int32_t>(accumulator_of(c).count());
  }
};

class TakeGradientKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    Accumulator& accumulator = accumulator_of(c);
    Tensor& out = c.allocate_output(0, DType::kFloat32, accumulator.shape());
    accumulator.take(*c.input(1).data<int32_t>(), out.data<float>());
  }
};

class SetGlobalStepKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    accumulator_of(c).set_step(*c.input(1).data<int64_t>());
  }
};

}  // namespace

Output add_accumulator(Graph& graph, const Shape& shape, const std::string& shared_name) {
  const Output handle = graph.op("ResourceConditionalAccumulator")
                            .attr("dtype", DType::kFloat32)
                            .attr("shape", shape)
                            .attr("shared_name", shared_name)
                            .named("conditional_accumulator");
  graph.add_to_collection(collection_keys::kSaveableObjects,
                          SaveablePtr(std::make_shared<AccumulatorSaveable>(*handle.op)));
  return handle;
}

RUNHOOKS_REGISTER_OP("ResourceConditionalAccumulator")
    .output("handle: resource")
    .attr("dtype: {float}")
    .attr("shape: shape")
    .attr("container: string = ''")
    .attr("shared_name: string = ''")
    .attr("reduction_type: {'MEAN', 'SUM'} = 'MEAN'")
    .shape(scalar_shape)
    .kernel(resource_handle_kernel)
    .owns_resource(Accumulator::make)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.ResourceConditionalAccumulator")
    .summary("An accumulator, which adds up or averages values.");

RUNHOOKS_REGISTER_OP("ResourceAccumulatorApplyGradient")
    .input("handle: resource, accumulator")
    .input("local_step: int64, scalar")
    .input("gradient: dtype")
    .attr("dtype: {float}")
    .shape(no_outputs)
    .kernel(kernel_of<ApplyGradientKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.ResourceAccumulatorApplyGradient")
    .summary("Adds a value to an accumulator, unless it was computed for an earlier step.");

RUNHOOKS_REGISTER_OP("ResourceAccumulatorNumAccumulated")
    .input("handle: resource, accumulator")
    .output("num_accumulated: int32")
    .shape(scalar_shape)
    .kernel(kernel_of<NumAccumulatedKernel>())
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.ResourceAccumulatorNumAccumulated")
    .summary("The number of values in an accumulator.");

RUNHOOKS_REGISTER_OP("ResourceAccumulatorTakeGradient")
    .input("handle: resource, accumulator")
    .input("num_required: int32, scalar")
    .output("average: dtype")
    .attr("dtype: {float}")
    .shape([](ShapeContext& c) {
      const Operation* handle = c.op().inputs()[0].op;
      const bool is_known = handle->type() == "ResourceConditionalAccumulator";
      c.set_output(0, is_known ? handle->attr<Shape>("shape") : Shape::unknown());
    })
    .kernel(kernel_of<TakeGradientKernel>())
    .mutates(0)
    .allocates_outputs()
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.ResourceAccumulatorTakeGradient")
    .summary("Returns the mean or sum of an accumulator's values and resets it.");

RUNHOOKS_REGISTER_OP("ResourceAccumulatorSetGlobalStep")
    .input("handle: resource, accumulator")
    .input("new_global_step: int64, scalar")
    .shape(no_outputs)
    .kernel(kernel_of<SetGlobalStepKernel>())
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.ResourceAccumulatorSetGlobalStep")
    .summary("Sets the current step of an accumulator, which ignores values of earlier steps.");

}  // namespace runhooks
