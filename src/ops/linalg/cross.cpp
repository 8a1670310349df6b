#include "graph/graph.h"
#include "graph/op_registry.h"

namespace runhooks {

namespace {

void cross_shape(ShapeContext& c) {
  const Shape merged = c.input(0).merge_with(c.input(1));
  const int last = merged.has_rank() ? merged.rank() - 1 : 0;
  if (merged.has_rank() && merged.dim(last) >= 0 && merged.dim(last) != 3) {
    invalid_argument("The last dimension must have 3 elements; got shape ", merged, ".");
  }
  c.set_output(0, merged);
}

template <typename T>
class CrossKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const T *a = c.input(0).template data<T>(), *b = c.input(1).template data<T>();
    T* y = c.output(0).template data<T>();
    for (int64_t i = 0; i < c.output(0).num_elements(); i += 3) {
      for (int k = 0; k < 3; ++k) {
        const int64_t next = i + (k + 1) % 3, last = i + (k + 2) % 3;
        y[i + k] = a[next] * b[last] - a[last] * b[next];
      }
    }
  }
};

}  // namespace

RUNHOOKS_REGISTER_OP("Cross")
    .input("a: T, rank >= 1")
    .input("b: T, rank >= 1")
    .output("product: T")
    .attr("T: {float, double}")
    .shape(cross_shape)
    .kernel(kernel_by_type<CrossKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {g.op("Cross", {op.input(1), dy[0]}), g.op("Cross", {dy[0], op.input(0)})};
    })
    .r("cross, linalg.cross(a, b, name = NULL)")
    .summary("The cross products of pairs of vectors of 3 numbers.")
    .example("f[2,3] f[2,3]");

}  // namespace runhooks
