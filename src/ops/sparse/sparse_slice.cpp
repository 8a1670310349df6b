// SparseSlice: the elements of a sparse tensor inside a range of each dimension. TensorFlow's
// weighted feature columns use it.
#include <algorithm>

#include "ops/array/copy_elements.h"
#include "ops/math/integer_math.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

void check_length(const KernelContext& c, int input, int64_t rank, const char* name) {
  if (c.input(input).num_elements() == rank) return;
  invalid_argument(name, " has ", c.input(input).num_elements(), " elements, but the tensor has ",
                   rank, " dimensions.");
}

class SparseSliceKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &indices = c.input(0), &values = c.input(1);
    const int64_t count = indices.shape().dim(0), rank = indices.shape().dim(1);
    if (values.num_elements() != count) {
      invalid_argument("There are ", count, " indices for ", values.num_elements(), " values.");
    }
    check_length(c, 2, rank, "shape");
    check_length(c, 3, rank, "start");
    check_length(c, 4, rank, "size");
    const auto *dims = c.input(2).data<int64_t>(), *start = c.input(3).data<int64_t>(),
               *size = c.input(4).data<int64_t>();
    Tensor& shape = c.allocate_output(2, DType::kInt64, Shape{rank});
    auto* slice_dims = shape.data<int64_t>();
    for (int64_t d = 0; d < rank; ++d) {
      if (start[d] < 0 || size[d] < 0 || dims[d] < 0) {
        invalid_argument("shape, start and size must be >= 0 in dimension ", d, "; they are ",
                         dims[d], ", ", start[d], ", ", size[d], ".");
      }
      slice_dims[d] = start[d] < dims[d] ? std::min(size[d], dims[d] - start[d]) : 0;
    }
    selected_rows_.clear();
    const auto* coordinates = indices.data<int64_t>();
    for (int64_t i = 0; i < count; ++i, coordinates += rank) {
      bool is_inside = true;
      for (int64_t d = 0; d < rank; ++d) {
        is_inside &= coordinates[d] >= start[d] && coordinates[d] - start[d] < slice_dims[d];
      }
      if (is_inside) selected_rows_.push_back(i);
    }
    write(c, start, rank);
  }

 private:
  void write(KernelContext& c, const int64_t* start, int64_t rank) {
    const auto n = static_cast<int64_t>(selected_rows_.size());
    Tensor& out = c.allocate_output(0, DType::kInt64, Shape{n, rank});
    Tensor& values = c.allocate_output(1, c.input(1).dtype(), Shape{n});
    const auto* from = c.input(0).data<int64_t>();
    auto* to = out.data<int64_t>();
    element_copier_.begin(values, c.input(1));
    for (int64_t k = 0; k < n; ++k) {
      const int64_t row = selected_rows_[static_cast<size_t>(k)];
      for (int64_t d = 0; d < rank; ++d) to[k * rank + d] = from[row * rank + d] - start[d];
      element_copier_.copy(c.input(1), row, k, 1);
    }
  }
  std::vector<int64_t> selected_rows_;  // of the input indices
  ElementCopier element_copier_;
};

// Outputs a gradient for each element of the original tensor: that of the slice, or 0 outside it.
// The slice's elements are in the order of the original tensor.
template <typename T>
class SparseSliceGradKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Tensor &grad = c.input(0), &indices = c.input(1), &slice_indices = c.input(3);
    const int64_t count = indices.shape().dim(0), rank = indices.shape().dim(1);
    check_length(c, 2, rank, "input_start");
    if (slice_indices.shape().dim(1) != rank ||
        slice_indices.shape().dim(0) != grad.num_elements()) {
      invalid_argument("output_indices of shape ", slice_indices.shape(), " do not fit ",
                       grad.num_elements(), " gradients of ", rank, " dimensions.");
    }
    Tensor& out = c.output(0);
    const auto *from = indices.data<int64_t>(), *start = c.input(2).data<int64_t>(),
               *to = slice_indices.data<int64_t>();
    int64_t k = 0;
    for (int64_t i = 0; i < count; ++i) {
      bool is_in_slice = k < grad.num_elements();
      for (int64_t d = 0; is_in_slice && d < rank; ++d) {
        is_in_slice = wrapping_subtract(from[i * rank + d], start[d]) == to[k * rank + d];
      }
      out.data<T>()[i] = is_in_slice ? grad.data<T>()[k] : T(0);
      k += is_in_slice;
    }
    if (k == grad.num_elements()) return;
    invalid_argument("output_indices must be a subset of input_indices.");
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("SparseSlice")
    .input("indices: int64, rank 2")
    .input("values: T, vector")
    .input("shape: int64, vector")
    .input("start: int64, vector")
    .input("size: int64, vector")
    .output("output_indices: int64")
    .output("output_values: T")
    .output("output_shape: int64")
    .attr("T: type")
    .shape([](ShapeContext& c) {
      const int64_t rank = c.with_rank(2, 1).merge_with(c.with_rank(3, 1)).dim(0);
      c.set_output(0, Shape{-1, rank});
      c.set_output(1, Shape{-1});
      c.set_output(2, Shape{rank});
    })
    .kernel(kernel_of<SparseSliceKernel>())
    .allocates_outputs()
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      if (!dy[1]) return Grads(5);
      const Output values =
          g.op("SparseSliceGrad", {dy[1], op.input(0), op.input(3), op.output(0)});
      return {Gradient(), values, Gradient(), Gradient(), Gradient()};
    })
    .endpoint("raw_ops.SparseSlice")
    .summary("A slice of a sparse tensor.")
    .example("l[3,2]{0,1,1,0,2,2} f[3] l{3,4} l{0,0} l{2,3}");

RUNHOOKS_REGISTER_OP("SparseSliceGrad")
    .input("backprop_val_grad: T, vector")
    .input("input_indices: int64, rank 2")
    .input("input_start: int64, vector")
    .input("output_indices: int64, rank 2")
    .output("val_grad: T")
    .attr("T: {float, double}")
    .shape([](ShapeContext& c) { c.set_output(0, Shape{c.with_rank(1, 2).dim(0)}); })
    .kernel(kernel_by_type<SparseSliceGradKernel, float, double>())
    .not_differentiable()
    .endpoint("raw_ops.SparseSliceGrad")
    .summary("The gradient of SparseSlice.")
    .example("f[2] l[3,2]{0,1,1,0,2,2} l{0,0} l[2,2]{0,1,1,0}");

}  // namespace runhooks
