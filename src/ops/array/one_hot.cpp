#include <algorithm>

#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

template <typename T>
class OneHotKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    const Shape& out = c.output(0).shape();
    int64_t axis = c.op().attr_int("axis");
    if (axis < 0) axis += out.rank();
    depth_ = out.dim(static_cast<int>(axis));
    inner_ = 1;
    for (int i = static_cast<int>(axis) + 1; i < out.rank(); ++i) inner_ *= out.dim(i);
  }
  void compute(KernelContext& c) override {
    const Tensor& indices = c.input(0);
    if (indices.dtype() == DType::kInt64) {
      fill(c, indices.data<int64_t>());
    } else if (indices.dtype() == DType::kUint8) {
      fill(c, indices.data<uint8_t>());
    } else {
      fill(c, indices.data<int32_t>());
    }
  }

 private:
  template <typename Index>
  void fill(KernelContext& c, const Index* indices) const {
    const T on = *c.input(2).data<T>(), off = *c.input(3).data<T>();
    T* y = c.output(0).template data<T>();
    std::fill(y, y + c.output(0).num_elements(), off);
    const int64_t n = c.input(0).num_elements();
    for (int64_t i = 0; i < n; ++i) {
      const auto index = static_cast<int64_t>(indices[i]);
      if (index < 0 || index >= depth_) continue;
      y[(i / inner_ * depth_ + index) * inner_ + i % inner_] = on;
    }
  }
  int64_t depth_ = 0, inner_ = 1;
};

void one_hot_shape(ShapeContext& c) {
  const Shape& indices = c.input(0);
  if (!indices.has_rank()) return c.set_output(0, Shape::unknown());
  int64_t axis = c.op().attr_int("axis");
  if (axis < -1 || axis > indices.rank()) {
    invalid_argument("`axis` must be between -1 and ", indices.rank(), ", not ", axis, ".");
  }
  if (axis == -1) axis = indices.rank();
  const Tensor* depth = c.value(1);
  Shape out;
  for (int i = 0; i <= indices.rank(); ++i) {
    if (i == axis) out.append(depth ? depth->integers()[0] : Shape::kUnknownDim);
    if (i < indices.rank()) out.append(indices.dim(i));
  }
  c.set_output(0, out);
}

}  // namespace

RUNHOOKS_REGISTER_OP("OneHot")
    .input("indices: TI")
    .input("depth: int32, scalar, >= 0")
    .input("on_value: T, scalar")
    .input("off_value: T, scalar")
    .output("output: T")
    .attr("axis: int = -1")
    .attr("T: {float, double, int32, int64}")
    .attr("TI: {uint8, int32, int64} = DT_INT64")
    .shape(one_hot_shape)
    .kernel(kernel_by_type<OneHotKernel, float, double, int32_t, int64_t>())
    .not_differentiable()
    .endpoint("raw_ops.OneHot")
    .summary("on_value at the position of each index, off_value elsewhere.")
    .example("i{0,2,1} i:3 f[] f[]")
    .example("i{0,2,-1} i:3 f[] f[] | axis=0");

}  // namespace runhooks
