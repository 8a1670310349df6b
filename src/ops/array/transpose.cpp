#include <algorithm>

#include "ops/array/index_reader.h"
#include "ops/state/gradient_helpers.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

// Returns the inverse of a permutation of 0 ... n - 1; throws if `perm` is not a permutation.
std::vector<int64_t> inverse_permutation(const std::vector<int64_t>& perm) {
  const auto n = static_cast<int64_t>(perm.size());
  std::vector<int64_t> inverse(perm.size(), -1);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t k = perm[static_cast<size_t>(i)];
    if (k < 0 || k >= n || inverse[static_cast<size_t>(k)] >= 0) {
      invalid_argument("A permutation must contain each of 0 to ", n - 1, " once; ", k,
                       " at position ", i, " is invalid.");
    }
    inverse[static_cast<size_t>(k)] = i;
  }
  return inverse;
}

// Returns the input axis for each axis of the output; a negative axis in `perm` counts from the
// end. Throws unless the axes are a permutation.
std::vector<int64_t> checked_permutation(const Tensor& perm, int rank) {
  std::vector<int64_t> order = perm.integers();
  if (static_cast<int>(order.size()) != rank) {
    invalid_argument("perm must have one entry for each of the ", rank, " dimensions; it has ",
                     order.size(), ".");
  }
  for (int64_t& axis : order) axis += axis < 0 ? rank : 0;
  inverse_permutation(order);
  return order;
}

void transpose_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  const Tensor* perm = c.value(1);
  if (!x.has_rank()) return c.set_output(0, Shape::unknown());
  if (!perm) return c.set_output(0, Shape::unknown_of_rank(x.rank()));
  Shape out;
  for (int64_t axis : checked_permutation(*perm, x.rank()))
    out.append(x.dim(static_cast<int>(axis)));
  c.set_output(0, out);
}

class TransposeKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const Shape& x = c.input(0).shape();
    std::vector<int64_t> strides(static_cast<size_t>(x.rank()), 1);
    for (int i = x.rank() - 2; i >= 0; --i) {
      strides[static_cast<size_t>(i)] = strides[static_cast<size_t>(i) + 1] * x.dim(i + 1);
    }
    strides_.clear();
    for (int64_t axis : checked_permutation(c.input_for_prepare(1), x.rank())) {
      strides_.push_back(strides[static_cast<size_t>(axis)]);
    }
    element_size_ = dtype_size(c.input(0).dtype());
  }
  void compute(KernelContext& c) override {
    const Tensor& x = c.input(0);
    Tensor& y = c.output(0);
    if (y.num_elements() == 0) return;
    copy(static_cast<const char*>(x.raw()), static_cast<char*>(y.raw()), y.shape(), 0);
    if (x.dtype() == DType::kString) y.set_dictionary(x.dictionary());
  }

 private:
  // Writes the output for the dimensions from `axis` on, recursively. Returns the end of the block.
  char* copy(const char* from, char* to, const Shape& out, int axis) const {
    if (axis == out.rank()) {
      std::memcpy(to, from, element_size_);
      return to + element_size_;
    }
    const auto n = static_cast<size_t>(out.dim(axis));
    const size_t stride = static_cast<size_t>(strides_[static_cast<size_t>(axis)]) * element_size_;
    if (axis + 1 == out.rank()) {
      copy_rows(n, element_size_, from, stride, to, element_size_);
      return to + n * element_size_;
    }
    for (size_t i = 0; i < n; ++i) to = copy(from + i * stride, to, out, axis + 1);
    return to;
  }

  std::vector<int64_t> strides_;
  size_t element_size_ = 0;
};

template <typename T>
class InvertPermutationKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const std::vector<int64_t> inverse = inverse_permutation(c.input(0).integers());
    T* y = c.output(0).template data<T>();
    for (size_t i = 0; i < inverse.size(); ++i) y[i] = static_cast<T>(inverse[i]);
  }
};

// Returns the elements of x that are not in y, and their indices in x.
template <typename T>
class ListDiffKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const T *x = c.input(0).data<T>(), *y = c.input(1).data<T>();
    const T* y_end = y + c.input(1).num_elements();
    std::vector<int64_t> remaining;
    for (int64_t i = 0; i < c.input(0).num_elements(); ++i) {
      if (std::find(y, y_end, x[i]) == y_end) remaining.push_back(i);
    }
    const Shape shape{static_cast<int64_t>(remaining.size())};
    T* out = c.allocate_output(0, dtype_of<T>(), shape).template data<T>();
    auto* idx = c.allocate_output(1, DType::kInt32, shape).template data<int32_t>();
    for (size_t i = 0; i < remaining.size(); ++i) {
      out[i] = x[remaining[i]];
      idx[i] = static_cast<int32_t>(remaining[i]);
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("Transpose")
    .input("x: T")
    .input("perm: Tperm, vector")
    .output("y: T")
    .attr("T: type")
    .attr("Tperm: {int32, int64} = DT_INT32")
    .shape(transpose_shape)
    .kernel(kernel_of<TransposeKernel>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("Transpose", {dy[0], g.op("InvertPermutation", {op.input(1)})}), Gradient()};
    })
    .endpoint("raw_ops.Transpose")
    .summary("Permutes the axes.")
    .example("f[2,3] i{1,0}")
    .example("f[4,2,3] i{1,2,0}")
    .example("f[2,1,3,2] i{3,0,2,1}");

RUNHOOKS_REGISTER_OP("InvertPermutation")
    .input("x: T, vector")
    .output("y: T")
    .attr("T: {int32, int64} = DT_INT32")
    .shape([](ShapeContext& c) { c.set_output(0, c.with_rank(0, 1)); })
    .kernel(kernel_by_type<InvertPermutationKernel, int32_t, int64_t>())
    .not_differentiable()
    .endpoint("invert_permutation")
    .summary("The inverse of a permutation.")
    .example("i{2,0,1}");

RUNHOOKS_REGISTER_OP("ListDiff")
    .input("x: T, vector")
    .input("y: T, vector")
    .output("out: T")
    .output("idx: int32")
    .attr("T: {int32, int64, float, double}")
    .shape([](ShapeContext& c) {
      c.set_output(0, Shape{Shape::kUnknownDim});
      c.set_output(1, Shape{Shape::kUnknownDim});
    })
    .kernel(kernel_by_type<ListDiffKernel, int32_t, int64_t, float, double>())
    .allocates_outputs()
    .not_differentiable()
    .r("setdiff1d(x, y, index_dtype = 'int32', name = NULL)")
    .summary("The elements of x that are not in y, and their indices in x.")
    .example("i{1,2,3,4} i{2,4}");

}  // namespace runhooks
