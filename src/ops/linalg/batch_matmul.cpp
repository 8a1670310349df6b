#include "ops/linalg/linalg.h"
#include "ops/linalg/matrix_product.h"
#include "ops/math/elementwise.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

int64_t dim_from_end(const Shape& shape, int i) { return shape.dim(shape.rank() - i); }

void batch_matmul_shape(ShapeContext& c) {
  const Shape &x = c.input(0), &y = c.input(1);
  for (const Shape* shape : {&x, &y}) {
    if (shape->has_rank() && shape->rank() < 2) {
      invalid_argument("A product of matrices takes 2 dimensions or more; got shape ", *shape, ".");
    }
  }
  if (!x.has_rank() || !y.has_rank()) return c.set_output(0, Shape::unknown());
  const bool adj_x = c.op().attr_bool("adj_x"), adj_y = c.op().attr_bool("adj_y");
  const int64_t inner_x = dim_from_end(x, adj_x ? 2 : 1), inner_y = dim_from_end(y, adj_y ? 1 : 2);
  if (inner_x >= 0 && inner_y >= 0 && inner_x != inner_y) {
    invalid_argument("Dimensions must be equal, but are ", inner_x, " and ", inner_y,
                     " for the product of shapes ", x, " and ", y, ".");
  }
  Shape out = broadcast_shapes(outer_dims(x, 2), outer_dims(y, 2));
  out.append(dim_from_end(x, adj_x ? 1 : 2));
  out.append(dim_from_end(y, adj_y ? 2 : 1));
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
    m_ = dim_from_end(out, 2);
    n_ = dim_from_end(out, 1);
    k_ = dim_from_end(x, adj_x_ ? 2 : 1);
    layout_ = broadcast_layout(outer_dims(x, 2), outer_dims(y, 2), outer_dims(out, 2));
  }
  void compute(KernelContext& c) override {
    if (layout_.n == 0) return;
    const T *x = c.input(0).template data<T>(), *y = c.input(1).template data<T>();
    T* z = c.output(0).template data<T>();
    const int64_t blocks = layout_.n / layout_.inner;
    for (int64_t block = 0; block < blocks; ++block) {
      const auto block_index = static_cast<size_t>(block);
      int64_t i = layout_.a_offsets.empty() ? 0 : layout_.a_offsets[block_index];
      int64_t j = layout_.b_offsets.empty() ? 0 : layout_.b_offsets[block_index];
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

// Computes the gradients of both operands, summed over the batch dimensions that were broadcast.
Grads batch_matmul_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const bool transposes_x = op.attr_bool("adj_x"), transposes_y = op.attr_bool("adj_y");
  const Output x = op.input(0), y = op.input(1), grad = dy[0];
  const Output dx = transposes_x ? matrix_product(g, y, transposes_y, grad, true)
                                 : matrix_product(g, grad, false, y, !transposes_y);
  const Output dy_operand = transposes_y ? matrix_product(g, grad, true, x, transposes_x)
                                         : matrix_product(g, x, !transposes_x, grad, false);
  const Output shape_x = shape_of(g, x), shape_y = shape_of(g, y);
  auto batch_dims = [&](Output shape, Output x) -> Output {
    const Output n = subtract(g, g.op("Rank", {x}), g.scalar(DType::kInt32, 2));
    return g.op("Slice", {shape, g.int_vector({0}), g.op("Reshape", {n, g.int_vector({1})})});
  };
  Operation* args = g.op("BroadcastGradientArgs", {batch_dims(shape_x, x), batch_dims(shape_y, y)});
  return {g.op("Reshape", {g.op("Sum", {dx, args->output(0)}), shape_x}),
          g.op("Reshape", {g.op("Sum", {dy_operand, args->output(1)}), shape_y})};
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
