#include <algorithm>
#include <type_traits>

#include "graph/op_registry.h"

namespace runhooks {

namespace {

template <typename T>
class BucketizeKernel : public Kernel {
  // Integers are compared with boundaries as doubles; float could not represent them exactly.
  using BoundaryType = std::conditional_t<std::is_integral_v<T>, double, T>;

 public:
  void compute(KernelContext& c) override {
    const auto& boundaries = c.op().attr<std::vector<float>>("boundaries");
    const T* x = c.input(0).data<T>();
    auto* out = c.output(0).template data<int32_t>();
    for (int64_t i = 0; i < c.input(0).num_elements(); ++i) {
      const auto first_greater =
          std::upper_bound(boundaries.begin(), boundaries.end(), x[i],
                           [](T value, float boundary) { return value < BoundaryType(boundary); });
      out[i] = static_cast<int32_t>(first_greater - boundaries.begin());
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("Bucketize")
    .input("input: T")
    .output("output: int32")
    .attr("T: {int32, int64, float, double}")
    .attr("boundaries: list(float)")
    .shape(unchanged_shape)
    .kernel(kernel_by_type<BucketizeKernel, int32_t, int64_t, float, double>())
    .not_differentiable()
    .endpoint("raw_ops.Bucketize")
    .summary("The number of boundaries less than or equal to each number.")
    .example("f[3,2] | boundaries=[0,1]");

}  // namespace runhooks
