#include "ops/linalg/matrix_product.h"
#include "ops/math/elementwise.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

Shape batch_of(const Shape& shape) {
  Shape batch;
  for (int i = 0; i + 2 < shape.rank(); ++i) batch.append(shape.dim(i));
  return batch;
}

int64_t from_end(const Shape& shape, int i) { return shape.dim(shape.rank() - i); }

void batch_matmul_shape(ShapeContext& c) {
  const Shape &x = c.input(0), &y = c.input(1);
  for (const Shape* shape : {&x, &y}) {
    if (shape->has_rank() && shape->rank() < 2) {
      invalid_argument("A product of matrices takes 2 dimensions or more; got shape ", *shape, ".");
    }
  }
  if (!x.has_rank() || !y.has_rank()) return c.set_output(0, Shape::unknown());
  const bool adj_x = c.op().attr_bool("adj_x"), adj_y = c.op().attr_bool("adj_y");
  const int64_t inner_x = from_end(x, adj_x ? 2 : 1), inner_y = from_end(y, adj_y ? 1 : 2);
  if (inner_x >= 0 && inner_y >= 0 && inner_x != inner_y) {
    invalid_argument("Dimensions must be equal, but are ", inner_x, " and ", inner_y,
                     " for the product of shapes ", x, " and ", y, ".");
  }
  Shape out = broadcast_shapes(batch_of(x), batch_of(y));
  out.append(from_end(x, adj_x ? 1 : 2));
  out.append(from_end(y, adj_y ? 2 : 1));
  c.set_output(0, out);
}

template <typename T>
class BatchMatMulKernel : public Kernel {
 public:
  bool uses_threads() const override { return true; }
  void prepare(KernelContext& c) override {
    const Shape &x = c.input(0).shape(), &y = c.input(1).shape(), &out = c.output(0).shape();
    adj_x_ = c.op().attr_bool("adj_x");
    adj_y_ = c.op().attr_bool("adj_y");
    m_ = from_end(out, 2);
    n_ = from_end(out, 1);
    k_ = from_end(x, adj_x_ ? 2 : 1);
    layout_ = broadcast_layout(batch_of(x), batch_of(y), batch_of(out));
  }
  void compute(KernelContext& c) override {
    if (layout_.n == 0) return;
    const T *x = c.input(0).template data<T>(), *y = c.input(1).template data<T>();
    T* z = c.output(0).template data<T>();
    const int64_t blocks = layout_.n / layout_.inner;
    for (int64_t block = 0; block < blocks; ++block) {
      const auto at = static_cast<size_t>(block);
      int64_t i = layout_.a_offsets.empty() ? 0 : layout_.a_offsets[at];
      int64_t j = layout_.b_offsets.empty() ? 0 : layout_.b_offsets[at];
      for (int64_t b = 0; b < layout_.inner; ++b, i += layout_.a_step, j += layout_.b_step) {
        if (b % 64 == 0) check_cancelled_throttled();
        matrix_product(adj_x_, adj_y_, m_, n_, k_, x + i * m_ * k_, y + j * k_ * n_, z);
        z += m_ * n_;
      }
    }
  }

 private:
  bool adj_x_ = false, adj_y_ = false;
  int64_t m_ = 0, n_ = 0, k_ = 0;
  BroadcastLayout layout_;
};

Output product(Graph& g, Output x, bool adj_x, Output y, bool adj_y) {
  return g.op("BatchMatMulV2", {x, y}).attr("adj_x", adj_x).attr("adj_y", adj_y);
}

// The gradients, summed over broadcast dimensions.
Grads batch_matmul_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const bool tx = op.attr_bool("adj_x"), ty = op.attr_bool("adj_y");
  const Output x = op.input(0), y = op.input(1), d = dy[0];
  const Output dx = tx ? product(g, y, ty, d, true) : product(g, d, false, y, !ty);
  const Output dz = ty ? product(g, d, true, x, tx) : product(g, x, !tx, d, false);
  const Output shape_x = shape_of(g, x), shape_y = shape_of(g, y);
  auto batch = [&](Output shape, Output of) -> Output {
    const Output n = subtract(g, g.op("Rank", {of}), g.scalar(DType::kInt32, 2));
    return g.op("Slice", {shape, g.int_vector({0}), g.op("Reshape", {n, g.int_vector({1})})});
  };
  Operation* args = g.op("BroadcastGradientArgs", {batch(shape_x, x), batch(shape_y, y)});
  return {g.op("Reshape", {g.op("Sum", {dx, args->output(0)}), shape_x}),
          g.op("Reshape", {g.op("Sum", {dz, args->output(1)}), shape_y})};
}

}  // namespace

RUNHOOKS_REGISTER_OP("BatchMatMulV2")
    .input("x: T")
    .input("y: T")
    .output("output: T")
    .attr("T: numbertype")
    .attr("adj_x: bool = false")
    .attr("adj_y: bool = false")
    .shape(batch_matmul_shape)
    .kernel(kernel_by_type<BatchMatMulKernel, float, double, int32_t, int64_t>())
    .gradient(batch_matmul_gradient)
    .endpoint("raw_ops.BatchMatMulV2")
    .summary("Products of the matrices in the last two dimensions.")
    .example("f[2,2,3] f[2,3,4]")
    .example("f[2,3,2] f[3,4] | adj_x=true")
    .example("f[2,3] f[4,1,2,3] | adj_y=true")
    .example("f[2,1,3,2] f[3,4,3] | adj_x=true adj_y=true");

}  // namespace runhooks
