// QR decomposition.
// clang-format off: linalg_matrix.h must be included before Eigen
#include "ops/linalg/linalg_matrix.h"
// clang-format on
#include <Eigen/QR>
#include <algorithm>

namespace runhooks {

namespace {

using namespace linalg;

void qr_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  const MatrixSize d = matrix_size(x);
  const Shape outer = outer_dims(x, 2);
  const int64_t k = c.op().attr_bool("full_matrices") ? d.m : d.min_dim();
  c.set_output(0, with_dims(outer, {d.m, k}));
  c.set_output(1, with_dims(outer, {k, d.n}));
}

template <typename T>
class QrKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const MatrixSize d = matrix_size(shape);
    const int64_t k = c.op().attr_bool("full_matrices") ? d.m : d.min_dim();
    if (k == 0) return;
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::HouseholderQR<Matrix> qr(to_matrix(input(0), d.m, d.n));
      write_matrix<T>(qr.householderQ() * Matrix::Identity(d.m, k), output(0));
      Matrix r = qr.matrixQR().topRows(k);
      for (int64_t i = 1; i < k; ++i) r.row(i).head(std::min(i, d.n)).setZero();
      write_matrix<T>(r, output(1));
    });
  }
};

// Implements Walter and Lehmann (2018), for matrices with at least as many rows as columns.
Grads qr_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output q = op.output(0), r = op.output(1), dq = dy[0], dr = dy[1];
  const Shape& x = op.input(0).shape();
  const MatrixSize d = x.has_rank() ? matrix_size(x) : MatrixSize();
  if (d.min_dim() < 0 || d.m < d.n || (op.attr_bool("full_matrices") && d.m != d.n)) {
    fail(Code::kUnimplemented, "The gradient of Qr needs matrices of known shape with at least as ",
         "many rows as columns, without full_matrices; got shape ", x, ".");
  }
  const Output qt_dq = matrix_product(g, q, true, dq, false);
  const Output r_drt = matrix_product(g, r, false, dr, true);
  const Output dqt_q = matrix_product(g, dq, true, q, false);
  const Output dr_rt = matrix_product(g, dr, false, r, true);
  const Output skew = add(g, subtract(g, qt_dq, dqt_q), subtract(g, r_drt, dr_rt));
  const Output inverse =
      g.op("MatrixTriangularSolve", {r, identity_like(g, r)}).attr("lower", false);
  const Output lower = matrix_product(g, band_part(g, skew, -1, 0), false, inverse, true);
  const Output inside = matrix_product(g, q, false, add(g, dr, lower), false);
  const Output outside = subtract(g, dq, matrix_product(g, q, false, qt_dq, false));
  return {add(g, inside, matrix_product(g, outside, false, inverse, true))};
}

}  // namespace

RUNHOOKS_REGISTER_OP("Qr")
    .input("input: T, rank >= 2")
    .output("q: T")
    .output("r: T")
    .attr("full_matrices: bool = false")
    .attr("T: {float, double}")
    .shape(qr_shape)
    .kernel(kernel_by_type<QrKernel, float, double>())
    .gradient(qr_gradient)
    .endpoint("qr")
    .endpoint("linalg.qr")
    .summary("The QR decomposition: q has orthonormal columns, r is upper triangular.")
    .example("f[4,3]")
    .example("f[2,3,3]");

}  // namespace runhooks
