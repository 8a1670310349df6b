// SparseReorder: the elements of a sparse tensor in row-major order.
#include <algorithm>
#include <numeric>

#include "graph/op_registry.h"
#include "ops/copy_elements.h"

namespace runhooks {

namespace {

class SparseReorderKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &indices = c.input(0), &values = c.input(1);
    const int64_t n = indices.shape().dim(0), rank = indices.shape().dim(1);
    if (values.num_elements() != n || c.input(2).num_elements() != rank) {
      invalid_argument("SparseReorder needs as many values as indices; got ",
                       values.num_elements(), " and ", n, ".");
    }
    const auto* at = indices.data<int64_t>();
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [at, rank](int64_t a, int64_t b) {
      return std::lexicographical_compare(at + a * rank, at + (a + 1) * rank, at + b * rank,
                                          at + (b + 1) * rank);
    });
    auto* sorted = c.output(0).data<int64_t>();
    copier_.begin(c.output(1), values);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      std::copy_n(at + from * rank, rank, sorted + i * rank);
      copier_.copy(values, from, i, 1);
    }
  }

 private:
  ElementCopier copier_;
};

}  // namespace

RUNHOOKS_REGISTER_OP("SparseReorder")
    .input("input_indices: int64, rank 2")
    .input("input_values: T, vector")
    .input("input_shape: int64, vector")
    .output("output_indices: int64")
    .output("output_values: T")
    .attr("T: type")
    .shape([](ShapeContext& c) {
      const Shape indices = c.with_rank(0, 2);
      c.set_output(0, indices);
      c.set_output(1, c.with_rank(1, 1));
    })
    .kernel(kernel_of<SparseReorderKernel>())
    .not_differentiable()
    .endpoint("raw_ops.SparseReorder")
    .summary("A sparse tensor with its elements in row-major order.")
    .example("l[2,2]{1,2,0,0} s{a,b} l{3,3}");

}  // namespace runhooks
