#include "graph/resource_kernel.h"

#include "graph/saveable.h"

namespace runhooks {

namespace {

class ResourceHandleKernel : public Kernel {
 public:
  void prepare(KernelContext& c) override {
    c.set_output_resource(0, stateful_resource(c.resources(), c.op()));
  }
  void compute(KernelContext&) override {}
  bool computes() const override { return false; }
};

}  // namespace

std::unique_ptr<Kernel> resource_handle_kernel(const Operation&) {
  return std::make_unique<ResourceHandleKernel>();
}

}  // namespace runhooks
