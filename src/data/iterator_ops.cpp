// The operations that bring a dataset's elements into the graph.
#include "data/iterator_resource.h"

namespace runhooks {

namespace {

class IteratorKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const Operation& op = c.op();
    const auto* dataset = static_cast<const Dataset*>(op.payload.get());
    if (!dataset) fail(Code::kFailedPrecondition, "The iterator has not been given a dataset.");
    c.set_output_resource(0, &iterator_resource(c.resources(), op.name(), *dataset));
  }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

class GetNextKernel : public Kernel, public ElementSink {
 public:
  void compute(KernelContext& c) override {
    context_ = &c;
    if (!c.input_resource<IteratorResource>(0).iterator->next(*this)) {
      throw Error(Code::kOutOfRange, "End of sequence");
    }
  }
  Tensor& allocate(int i, DType dtype, const Shape& shape) override {
    return context_->allocate_output(i, dtype, shape);
  }

 private:
  KernelContext* context_ = nullptr;
};

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
    .summary("A handle of a position in a dataset.");

RUNHOOKS_REGISTER_OP("IteratorGetNext")
    .input("iterator: resource")
    .output("components: output_types")
    .attr("output_types: list(type)")
    .attr("output_shapes: list(shape)")
    .shape([](ShapeContext& c) {
      const auto& shapes = c.op().attr<std::vector<Shape>>("output_shapes");
      for (size_t i = 0; i < shapes.size(); ++i) c.set_output(static_cast<int>(i), shapes[i]);
    })
    .kernel(kernel_of<GetNextKernel>())
    .stateful()
    .allocates_outputs()
    .not_differentiable()
    .endpoint("raw_ops.IteratorGetNext")
    .summary("The next element of a dataset.");

std::vector<Output> next_element(Graph& graph, std::shared_ptr<const Dataset> dataset) {
  const std::vector<DType> dtypes = dataset->dtypes();
  const std::vector<Shape> shapes = dataset->shapes();
  Operation* handle = graph.op("IteratorV2")
                          .attr("shared_name", "")
                          .attr("container", "")
                          .attr("output_types", dtypes)
                          .attr("output_shapes", shapes);
  handle->payload = std::const_pointer_cast<Dataset>(dataset);
  graph.add_to_collection("iterators", handle->output(0));
  Operation* next = graph.op("IteratorGetNext", {handle->output(0)})
                        .attr("output_types", dtypes)
                        .attr("output_shapes", shapes);
  std::vector<Output> components;
  for (int i = 0; i < next->num_outputs(); ++i) components.push_back(next->output(i));
  return components;
}

DatasetIterator* find_iterator(const ResourceManager& resources, const std::string& op_name) {
  auto* resource = resources.find<IteratorResource>(op_name);
  return resource ? resource->iterator.get() : nullptr;
}

}  // namespace runhooks
