// Graph operations that read the elements of a dataset.
#include <algorithm>

#include "base/ticks.h"
#include "data/iterator_rebind.h"
#include "data/iterator_resource.h"

namespace runhooks {

namespace {

class IteratorKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    c.set_output_resource(0, &iterator_resource(c.resources(), c.op()));
  }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

class InitializeKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    std::shared_ptr<const Dataset> dataset = dataset_of(c.op());
    const std::vector<Output> tensors = dataset->free_tensors();
    Components values;
    for (int i = 1; i < c.num_inputs(); ++i) values.push_back(c.input(i).copy());
    c.input_resource<IteratorResource>(0).begin(dataset->bind({tensors, values}), c.op().graph());
  }
};

class GetNextKernel : public Kernel, public ElementSink {
 public:
  void compute(KernelContext& c) override {
    context_ = &c;
    auto& resource = c.input_resource<IteratorResource>(0);
    if (!resource.iterator) {
      fail(Code::kFailedPrecondition,
           "GetNext() failed because the iterator has not been initialized. Ensure that you have "
           "run the initializer operation for this iterator before getting the next element.");
    }
    const int64_t start_ticks = now_ticks();
    const bool has_element = resource.read(*this);
    resource.wait_ticks += std::max<int64_t>(now_ticks() - start_ticks, 0);
    if (!has_element) throw Error(Code::kOutOfRange, "End of sequence");
  }
  Tensor& allocate(int i, DType dtype, const Shape& shape) override {
    return context_->allocate_output(i, dtype, shape);
  }
  // Avoids a copy if the tensor is the same in each step, as with one batch of all rows. Other
  // tensors are copied into the buffer of the last step, because prepared kernels have its address.
  void put(int i, Tensor value) override {
    const auto index = static_cast<size_t>(i);
    if (last_buffers_.size() <= index) last_buffers_.resize(index + 1, nullptr);
    const bool may_share = value.num_bytes() > 0 && value.dtype() != DType::kVariant &&
                           (!last_buffers_[index] || last_buffers_[index] == value.raw());
    last_buffers_[index] = value.raw();
    if (may_share) {
      context_->alias_output(i, value);
    } else {
      copy(i, value);
    }
  }

 private:
  KernelContext* context_ = nullptr;
  // The buffer that each component had in the last step. It may be freed, so it is only compared.
  std::vector<const void*> last_buffers_;
};

// Becomes a no-op in exported graphs, because a GraphDef cannot contain the dataset.
void lower_make_iterator(Graph& g, const Operation& op, const std::vector<Output>&) {
  g.op("NoOp").named(op.name() + "/").build();
}

}  // namespace

RUNHOOKS_REGISTER_OP("IteratorV2")
    .output("handle: resource")
    .attr("shared_name: string")
    .attr("container: string")
    .attr("output_types: list(type)")
    .attr("output_shapes: list(shape)")
    .shape(scalar_shape)
    .kernel(kernel_of<IteratorKernel>())
    .stateful()
    .order_insensitive()
    .not_differentiable()
    .endpoint("raw_ops.IteratorV2")
    .summary("Handle of an iterator over a dataset.");

RUNHOOKS_REGISTER_OP("IteratorGetNext")
    .input("iterator: resource, iterator")
    .output("components: output_types")
    .attr("output_types: list(type)")
    .attr("output_shapes: list(shape)")
    .shape([](ShapeContext& c) {
      const auto& shapes = c.op().attr<std::vector<Shape>>("output_shapes");
      if (shapes.size() != c.outputs().size()) {
        invalid_argument("There must be a shape for each of the ", c.outputs().size(),
                         " components; got ", shapes.size(), ".");
      }
      for (size_t i = 0; i < shapes.size(); ++i) c.set_output(static_cast<int>(i), shapes[i]);
    })
    .kernel(kernel_of<GetNextKernel>())
    .stateful()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.IteratorGetNext")
    .summary("The next element of a dataset.");

// Has another name than TensorFlow's MakeIterator, because that takes the dataset as a tensor.
RUNHOOKS_REGISTER_OP("_MakeIterator")
    .input("iterator: resource, iterator")
    .input("captured: Tcaptured")
    .attr("Tcaptured: list(type) >= 0")
    .shape(no_outputs)
    .kernel(kernel_of<InitializeKernel>())
    .lower(lower_make_iterator)
    .stateful()
    .not_differentiable()
    .summary("Initialize an iterator at the first element of its dataset.");

Output make_iterator_op(Graph& graph,
                        const std::vector<DType>& dtypes,
                        const std::vector<Shape>& shapes,
                        std::shared_ptr<const Dataset> dataset) {
  if (std::find(dtypes.begin(), dtypes.end(), DType::kVariant) != dtypes.end()) {
    throw Error(Code::kUnimplemented, "The elements of the dataset are datasets.",
                {"Use dataset_flat_map() to flatten them."});
  }
  const std::shared_ptr<const Dataset> bound = dataset ? with_constants(dataset) : nullptr;
  Operation* handle = graph.op("IteratorV2")
                          .attr("shared_name", "")
                          .attr("container", "")
                          .attr("output_types", dtypes)
                          .attr("output_shapes", shapes);
  handle->payload = std::const_pointer_cast<Dataset>(bound);
  graph.add_to_collection("iterators", handle->output(0));
  return handle->output(0);
}

Operation* make_iterator_initializer(const Output& iterator,
                                     std::shared_ptr<const Dataset> dataset,
                                     const std::string& name) {
  const auto& dtypes = iterator.op->attr<std::vector<DType>>("output_types");
  const auto& shapes = iterator.op->attr<std::vector<Shape>>("output_shapes");
  const std::vector<Shape> dataset_shapes = dataset->shapes();
  bool matches = dtypes == dataset->dtypes();
  for (size_t i = 0; matches && i < shapes.size(); ++i)
    matches = shapes[i].is_compatible_with(dataset_shapes[i]);
  if (!matches) {
    invalid_argument(
        "The types or shapes of the dataset differ from those of the "
        "iterator.");
  }
  std::vector<Output> inputs = dataset->free_tensors();
  inputs.insert(inputs.begin(), iterator);
  Operation* op = iterator.graph().op("_MakeIterator", inputs).named(name);
  op->payload = std::const_pointer_cast<Dataset>(dataset);
  return op;
}

std::vector<Output> iterator_get_next(const Output& iterator, const std::string& name) {
  Operation* next =
      iterator.graph()
          .op("IteratorGetNext", {iterator})
          .named(name)
          .attr("output_types", iterator.op->attr<std::vector<DType>>("output_types"))
          .attr("output_shapes", iterator.op->attr<std::vector<Shape>>("output_shapes"));
  std::vector<Output> components;
  for (int i = 0; i < next->num_outputs(); ++i) components.push_back(next->output(i));
  return components;
}

std::vector<Output> next_element(Graph& graph, std::shared_ptr<const Dataset> dataset) {
  const std::vector<DType> dtypes = dataset->dtypes();
  const std::vector<Shape> shapes = dataset->shapes();
  return iterator_get_next(make_iterator_op(graph, dtypes, shapes, std::move(dataset)));
}

void rebind_iterator(const Output& iterator,
                     std::shared_ptr<const Dataset> dataset,
                     ResourceManager& resources) {
  IteratorResource& resource = iterator_resource(resources, *iterator.op);
  resource.begin(std::move(dataset), iterator.graph());
  resource.wait_ticks = resource.num_elements = 0;
}

std::shared_ptr<const Dataset> dataset_of(const Output& iterator) {
  return dataset_of(*iterator.op);
}

uint64_t release_dataset(const Output& iterator, ResourceManager& resources) {
  iterator.op->payload = nullptr;
  IteratorResource& resource = iterator_resource(resources, *iterator.op);
  const auto rows = static_cast<uint64_t>(resource.iterator ? resource.iterator->rows_seen() : 0);
  uint64_t row_bytes = 0;
  for (size_t i = 0; resource.dataset && i < resource.dataset->dtypes().size(); ++i) {
    Shape row = resource.dataset->shapes()[i];
    row.set_dim(0, 1);
    row_bytes +=
        static_cast<uint64_t>(row.num_elements()) * dtype_size(resource.dataset->dtypes()[i]);
  }
  resource.iterator = nullptr;
  resource.dataset = nullptr;
  const auto num_reads = static_cast<uint64_t>(std::max<int64_t>(resource.num_elements, 1));
  resource.num_elements = 0;
  return rows * row_bytes / num_reads;
}

}  // namespace runhooks
