// Sparse matrices (indices [n, 2], values [n], shape [2]): product with a dense matrix, and
// reordering.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/cancellation.h"
#include "ops/array/copy_elements.h"
#include "ops/array/index_reader.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

template <typename T>
class SparseTensorDenseMatMulKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Indices coordinates(c.input(0));
    const T *values = c.input(1).data<T>(), *b = c.input(3).data<T>();
    const bool adjoint_a = c.op().attr_bool("adjoint_a"), adjoint_b = c.op().attr_bool("adjoint_b");
    const int64_t width = c.input(3).shape().dim(1);
    Tensor& out = c.output(0);
    const int64_t rows = out.shape().dim(0), columns = out.shape().dim(1);
    const int64_t inner = c.input(3).shape().dim(adjoint_b ? 1 : 0);
    std::memset(out.raw(), 0, out.num_bytes());
    for (int64_t i = 0; i < c.input(1).num_elements(); ++i) {
      const int64_t row = coordinates[2 * i + (adjoint_a ? 1 : 0)],
                    k = coordinates[2 * i + (adjoint_a ? 0 : 1)];
      if (row < 0 || row >= rows || k < 0 || k >= inner) {
        invalid_argument("indices[", i, "] = (", coordinates[2 * i], ", ", coordinates[2 * i + 1],
                         ") is not in the matrix.");
      }
      T* to = out.data<T>() + row * columns;
      for (int64_t j = 0; j < columns; ++j) {
        const T factor = adjoint_b ? b[j * width + k] : b[k * width + j];
        to[j] = wrapping_add(to[j], wrapping_multiply(values[i], factor));
      }
    }
  }
};

void product_shape(ShapeContext& c) {
  const Shape b = c.with_rank(3, 2);
  const Tensor* a = c.value(2);
  const bool adjoint_a = c.op().attr_bool("adjoint_a"), adjoint_b = c.op().attr_bool("adjoint_b");
  Shape{c.with_rank(0, 2).dim(0)}.merge_with(c.with_rank(1, 1));
  if (a && a->num_elements() != 2) {
    invalid_argument("A sparse matrix has a shape of 2 numbers, not ", a->num_elements(), ".");
  }
  const int64_t inner = a ? a->integers()[adjoint_a ? 0 : 1] : -1;
  const int64_t other = b.dim(adjoint_b ? 1 : 0);
  if (inner >= 0 && other >= 0 && inner != other) {
    invalid_argument("Cannot multiply A and B because inner dimension does not match: ", inner,
                     " vs. ", other, ".");
  }
  c.set_output(0, Shape{a ? a->integers()[adjoint_a ? 1 : 0] : -1, b.dim(adjoint_b ? 0 : 1)});
}

Output coordinates_along(Graph& g, Output indices, int axis) {
  return g.op("GatherV2", {indices, g.scalar(DType::kInt32, axis), g.scalar(DType::kInt32, 1)});
}

Output transpose(Graph& g, Output x) { return g.op("Transpose", {x, g.int_vector({1, 0})}); }

Grads product_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const bool adjoint_a = op.attr_bool("adjoint_a"), adjoint_b = op.attr_bool("adjoint_b");
  Output db = g.op("SparseTensorDenseMatMul", {op.input(0), op.input(1), op.input(2), dy[0]})
                  .attr("adjoint_a", !adjoint_a);
  if (adjoint_b) db = transpose(g, db);
  const Output b = adjoint_b ? transpose(g, op.input(3)) : op.input(3);
  const Output dy_rows = rows_at(g, dy[0], coordinates_along(g, op.input(0), adjoint_a ? 1 : 0));
  const Output b_rows = rows_at(g, b, coordinates_along(g, op.input(0), adjoint_a ? 0 : 1));
  const Output da = g.op("Sum", {multiply(g, dy_rows, b_rows), g.int_vector({1})});
  return {Gradient(), da, Gradient(), db};
}

class SparseReorderKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Indices coordinates(c.input(0));
    const int64_t n = c.input(0).shape().dim(0), rank = c.input(0).shape().dim(1);
    order_.resize(static_cast<size_t>(n));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    uint32_t comparisons = 0;
    std::stable_sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      if (++comparisons % (1 << 16) == 0) check_cancelled();
      for (int64_t d = 0; d < rank; ++d) {
        const int64_t x = coordinates[a * rank + d], y = coordinates[b * rank + d];
        if (x != y) return x < y;
      }
      return false;
    });
    element_copier_.begin(c.output(1), c.input(1));
    auto* indices = c.output(0).data<int64_t>();
    for (int64_t i = 0; i < n; ++i) {
      const int64_t from = order_[static_cast<size_t>(i)];
      for (int64_t d = 0; d < rank; ++d) *indices++ = coordinates[from * rank + d];
      element_copier_.copy(c.input(1), from, i, 1);
    }
  }

 private:
  std::vector<int64_t> order_;
  ElementCopier element_copier_;
};

}  // namespace

RUNHOOKS_REGISTER_OP("SparseTensorDenseMatMul")
    .input("a_indices: Tindices, rank 2")
    .input("a_values: T, vector")
    .input("a_shape: int64, vector, >= 0")
    .input("b: T, rank 2")
    .output("product: T")
    .attr("T: {float, double, int32, int64}")
    .attr("Tindices: {int32, int64} = DT_INT64")
    .attr("adjoint_a: bool = false")
    .attr("adjoint_b: bool = false")
    .shape(product_shape)
    .kernel(kernel_by_type<SparseTensorDenseMatMulKernel, float, double, int32_t, int64_t>())
    .gradient(product_gradient)
    .endpoint("raw_ops.SparseTensorDenseMatMul")
    .summary("The product of a sparse matrix and a dense one.")
    .example("l[3,2]{0,1,2,0,2,2} f[3] l{3,4} f[4,2]")
    .example("l[3,2]{0,1,2,0,2,2} f[3] l{3,4} f[2,3] | adjoint_a=true adjoint_b=true");

RUNHOOKS_REGISTER_OP("SparseReorder")
    .input("input_indices: int64, rank 2")
    .input("input_values: T, vector")
    .input("input_shape: int64, vector")
    .output("output_indices: int64")
    .output("output_values: T")
    .attr("T: type")
    .shape([](ShapeContext& c) {
      Shape{c.with_rank(0, 2).dim(0)}.merge_with(c.with_rank(1, 1));
      c.set_output(0, c.input(0));
      c.set_output(1, c.input(1));
    })
    .kernel(kernel_of<SparseReorderKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      // Reordering the positions 0, 1, ... in the same way gives the permutation.
      const Output n = g.op("Reshape", {shape_of(g, op.input(1)), g.int_vector({})});
      const Output positions =
          g.op("Range", {g.scalar(DType::kInt32, 0), n, g.scalar(DType::kInt32, 1)});
      Operation* reordered = g.op("SparseReorder", {op.input(0), positions, op.input(2)});
      const Output inverse = g.op("InvertPermutation", {reordered->output(1)});
      return {Gradient(), rows_at(g, dy[1], inverse), Gradient()};
    })
    .endpoint("raw_ops.SparseReorder")
    .summary("Sorts the elements of a sparse tensor.")
    .example("l[3,2]{2,0,0,1,2,2} f[3] l{3,4}");

}  // namespace runhooks
