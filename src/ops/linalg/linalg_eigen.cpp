// Eigenvalues and eigenvectors of symmetric matrices.
// clang-format off: linalg_matrix.h must be included before Eigen
#include "ops/linalg/linalg_matrix.h"
// clang-format on
#include <Eigen/Eigenvalues>

namespace runhooks {

namespace {

using namespace linalg;

void eigen_shape(ShapeContext& c) {
  const Shape& x = square_matrices(c, 0);
  if (!x.has_rank()) return;
  const int64_t n = x.dim(x.rank() - 1);
  c.set_output(0, with_dims(outer_dims(x, 2), {n}));
  c.set_output(1, c.op().attr_bool("compute_v") ? x : Shape{0});
}

template <typename T>
class SelfAdjointEigKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    const bool computes_vectors = c.op().attr_bool("compute_v");
    if (n == 0) return;
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::SelfAdjointEigenSolver<Matrix> eigen(
          to_matrix(input(0), n, n),
          computes_vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      if (eigen.info() != Eigen::Success) {
        invalid_argument(
            "Self Adjoint Eigen decomposition was not successful. The input might not be valid.");
      }
      write_matrix<T>(eigen.eigenvalues(), output(0));
      if (computes_vectors) write_matrix<T>(eigen.eigenvectors(), output(1));
    });
  }
};

// The op reads only the lower triangle of its input, so the gradient is a lower triangle too.
Grads eigen_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output e = op.output(0);
  Output v = op.output(1), inner_grad = g.op("MatrixDiag", {dy[0]});
  if (op.attr_bool("compute_v")) {
    const Output row = g.op("ExpandDims", {e, g.scalar(DType::kInt32, -2)});
    const Output column = g.op("ExpandDims", {e, g.scalar(DType::kInt32, -1)});
    const Output inverse = g.op(
        "MatrixSetDiag", {g.op("Reciprocal", {subtract(g, row, column)}), g.op("ZerosLike", {e})});
    inner_grad = add(g, inner_grad, multiply(g, inverse, matrix_product(g, v, true, dy[1], false)));
  } else {
    v = static_cast<Operation*>(g.op("SelfAdjointEigV2", {op.input(0)}))->output(1);
  }
  const Output left = matrix_product(g, v, false, inner_grad, false);
  const Output full_grad = matrix_product(g, left, false, v, true);
  const Output transposed =
      matrix_product(g, matrix_product(g, v, false, inner_grad, true), false, v, true);
  const Output lower = band_part(g, add(g, full_grad, transposed), -1, 0);
  const Output half = g.scalar(e.dtype(), 0.5);
  return {g.op("MatrixSetDiag", {lower, multiply(g, half, g.op("MatrixDiagPart", {lower}))})};
}

}  // namespace

RUNHOOKS_REGISTER_OP("SelfAdjointEigV2")
    .input("input: T, rank >= 2")
    .output("e: T")
    .output("v: T")
    .attr("compute_v: bool = true")
    .attr("T: {float, double}")
    .shape(eigen_shape)
    .kernel(kernel_by_type<SelfAdjointEigKernel, float, double>())
    .gradient(eigen_gradient)
    .r("self_adjoint_eig, linalg.eigh(tensor as input, name = NULL)")
    .summary("The eigenvalues of symmetric matrices in increasing order, and the eigenvectors.")
    .example("m[3,3]")
    .example("m[2,2,2] | compute_v=false");

}  // namespace runhooks
