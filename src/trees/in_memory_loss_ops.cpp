// Logistic loss of trees on data in memory: stored labels, and loss and derivatives in one pass.
#include "graph/op_registry.h"
#include "graph/resource_kernel.h"
#include "trees/ensemble_resource.h"
#include "trees/in_memory_trees.h"
#include "trees/lower_in_memory.h"

namespace runhooks {

namespace {

class InMemoryLabelsKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor& labels = c.input(1);
    c.input_resource<InMemoryTrees>(0).set_labels(labels.data<float>(), labels.num_elements());
  }
};

class InMemoryLogisticLossKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    auto& trees = c.input_resource<InMemoryTrees>(1);
    const auto& ensemble = c.input_resource<EnsembleResource>(0);
    const Tensor& rows_input = c.input(2);
    check(trees, ensemble, rows_input);
    const Shape column{rows_input.shape().dim(0), 1};
    float* gradients = c.allocate_output(1, DType::kFloat32, column).data<float>();
    float* hessians = c.allocate_output(2, DType::kFloat32, column).data<float>();
    *c.allocate_output(0, DType::kFloat32, Shape()).data<float>() =
        trees.logistic_loss(ensemble, gradients, hessians);
  }

 private:
  static void check(const InMemoryTrees& trees,
                    const EnsembleResource& ensemble,
                    const Tensor& rows_input) {
    if (!trees.is_filled() && !ensemble.ensemble().trees.empty()) {
      fail(Code::kFailedPrecondition, "The data have not been binned.");
    }
    const int64_t rows = rows_input.shape().rank() > 0 ? rows_input.shape().dim(0) : -1;
    const bool bins_match = !trees.is_filled() || trees.rows() == rows;
    if (bins_match && trees.labelled_rows() == rows) return;
    fail(Code::kFailedPrecondition, "The data in memory have ", trees.labelled_rows(),
         " labels, but the features have shape ", rows_input.shape(),
         ". Trees in memory need the same rows in each step.");
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("BoostedTreesInMemoryLabels")
    .input("data: resource, trees in memory")
    .input("labels: float")
    .shape(no_outputs)
    .kernel(kernel_of<InMemoryLabelsKernel>())
    .lower(lower_to_no_op)
    .mutates(0)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesInMemoryLabels")
    .summary("Stores the labels of all rows in memory, one number per row.");

RUNHOOKS_REGISTER_OP("BoostedTreesInMemoryLogisticLoss")
    .input("tree_ensemble_handle: resource, tree ensemble")
    .input("data: resource, trees in memory")
    .input("rows: T, rank >= 1")
    .output("loss: float")
    .output("gradients: float")
    .output("hessians: float")
    .attr("T: type")
    .shape([](ShapeContext& c) {
      const Shape column{c.input(2).has_rank() ? c.input(2).dim(0) : Shape::kUnknownDim, 1};
      c.set_output(0, Shape());
      c.set_output(1, column);
      c.set_output(2, column);
    })
    .kernel(kernel_of<InMemoryLogisticLossKernel>())
    .lower(lower_in_memory_logistic)
    .mutates(1)
    .stateful()
    .not_differentiable()
    .endpoint("raw_ops.BoostedTreesInMemoryLogisticLoss")
    .summary(
        "The mean logistic loss of all rows in memory with the current trees, and its first "
        "and second derivatives by the logits.");

}  // namespace runhooks
