#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

template <typename T>
class L2LossKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const T* x = c.input(0).data<T>();
    double total = 0;
    for (int64_t i = 0; i < c.input(0).num_elements(); ++i) total += double{x[i]} * x[i];
    *c.output(0).template data<T>() = static_cast<T>(total / 2);
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("L2Loss")
    .input("t: T")
    .output("output: T")
    .attr("T: {float, double}")
    .shape(scalar_shape)
    .kernel(kernel_by_type<L2LossKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {multiply(g, op.input(0), dy[0])};
    })
    .endpoint("nn.l2_loss")
    .summary("Half the sum of squares.")
    .example("f[2,3]");

}  // namespace runhooks
