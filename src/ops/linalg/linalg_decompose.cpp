// The decompositions of matrices: QR, singular values, eigenvalues of symmetric ones, by Eigen.
#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>

#include "ops/linalg/linalg.h"
#include "ops/linalg/linalg_matrix.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {

namespace {

using Grads = std::vector<Gradient>;
using Outputs = std::vector<Output>;
using linalg::Matrix;
using linalg::read;
using linalg::write;

struct MatrixSize {
  int64_t m = -1, n = -1;
  int64_t least() const { return m < 0 || n < 0 ? Shape::kUnknownDim : std::min(m, n); }
};

MatrixSize matrix_size(const Shape& x) { return {x.dim(x.rank() - 2), x.dim(x.rank() - 1)}; }

void qr_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  const MatrixSize d = matrix_size(x);
  const Shape outer = outer_dims(x, 2);
  const int64_t k = c.op().attr_bool("full_matrices") ? d.m : d.least();
  c.set_output(0, with_dims(outer, {d.m, k}));
  c.set_output(1, with_dims(outer, {k, d.n}));
}

template <typename T>
class QrKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const MatrixSize d = matrix_size(shape);
    const int64_t k = c.op().attr_bool("full_matrices") ? d.m : d.least();
    if (k == 0) return;
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::HouseholderQR<Matrix> qr(read(input(0), d.m, d.n));
      write<T>(qr.householderQ() * Matrix::Identity(d.m, k), output(0));
      Matrix r = qr.matrixQR().topRows(k);
      for (int64_t i = 1; i < k; ++i) r.row(i).head(std::min(i, d.n)).setZero();
      write<T>(r, output(1));
    });
  }
};

void svd_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  const MatrixSize d = matrix_size(x);
  const Shape outer = outer_dims(x, 2);
  const bool full = c.op().attr_bool("full_matrices");
  c.set_output(0, with_dims(outer, {d.least()}));
  if (!c.op().attr_bool("compute_uv")) {
    c.set_output(1, Shape{0});
    c.set_output(2, Shape{0});
    return;
  }
  c.set_output(1, with_dims(outer, {d.m, full ? d.m : d.least()}));
  c.set_output(2, with_dims(outer, {d.n, full ? d.n : d.least()}));
}

template <typename T>
class SvdKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const MatrixSize d = matrix_size(shape);
    const bool vectors = c.op().attr_bool("compute_uv"), full = c.op().attr_bool("full_matrices");
    unsigned options = 0;
    if (vectors) {
      options = full ? Eigen::ComputeFullU | Eigen::ComputeFullV
                     : Eigen::ComputeThinU | Eigen::ComputeThinV;
    }
    const int64_t k = d.least();
    if (k == 0) return empty(c, d, vectors && full);
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::BDCSVD<Matrix> svd(read(input(0), d.m, d.n), options);
      write<T>(svd.singularValues(), output(0));
      if (!vectors) return;
      write<T>(svd.matrixU(), output(1));
      write<T>(svd.matrixV(), output(2));
    });
  }

 private:
  // Of a matrix without elements every vector is one of the null space.
  static void empty(KernelContext& c, const MatrixSize& d, bool full) {
    if (!full) return;
    for_each_matrix<T>(c, count_matrices(c.input(0).shape()), [&](auto, auto output) {
      write<T>(Matrix::Identity(d.m, d.m), output(1));
      write<T>(Matrix::Identity(d.n, d.n), output(2));
    });
  }
};

void eigen_shape(ShapeContext& c) {
  const Shape& x = square_matrices(c, 0);
  if (!x.has_rank()) return;
  const int64_t n = x.dim(x.rank() - 1);
  c.set_output(0, with_dims(outer_dims(x, 2), {n}));
  c.set_output(1, c.op().attr_bool("compute_v") ? x : Shape{0});
}

// Reads the lower triangle.
template <typename T>
class SelfAdjointEigKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    const bool vectors = c.op().attr_bool("compute_v");
    if (n == 0) return;
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::SelfAdjointEigenSolver<Matrix> eigen(
          read(input(0), n, n), vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
      if (eigen.info() != Eigen::Success) {
        invalid_argument(
            "Self Adjoint Eigen decomposition was not successful. The input might not be valid.");
      }
      write<T>(eigen.eigenvalues(), output(0));
      if (vectors) write<T>(eigen.eigenvectors(), output(1));
    });
  }
};

// Walter and Lehmann (2018), for matrices with as many rows as columns or more.
Grads qr_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output q = op.output(0), r = op.output(1), dq = dy[0], dr = dy[1];
  const Shape& x = op.input(0).shape();
  const MatrixSize d = x.has_rank() ? matrix_size(x) : MatrixSize();
  if (d.least() < 0 || d.m < d.n || (op.attr_bool("full_matrices") && d.m != d.n)) {
    fail(Code::kUnimplemented, "The gradient of Qr is there for matrices of a known shape with as ",
         "many rows as columns or more, without full_matrices; got shape ", x, ".");
  }
  const Output qdq = matrix_product(g, q, true, dq, false);
  const Output rdr = matrix_product(g, r, false, dr, true);
  const Output dq_q = matrix_product(g, dq, true, q, false);
  const Output dr_r = matrix_product(g, dr, false, r, true);
  const Output skew = add(g, subtract(g, qdq, dq_q), subtract(g, rdr, dr_r));
  const Output inverse =
      g.op("MatrixTriangularSolve", {r, identity_like(g, r)}).attr("lower", false);
  const Output lower = matrix_product(g, band_part(g, skew, -1, 0), false, inverse, true);
  const Output inside = matrix_product(g, q, false, add(g, dr, lower), false);
  const Output outside = subtract(g, dq, matrix_product(g, q, false, qdq, false));
  return {add(g, inside, matrix_product(g, outside, false, inverse, true))};
}

// Of the singular values; that of the vectors is not there.
Grads svd_gradient(Graph& g, Operation& op, const Outputs& dy) {
  if (op.attr_bool("compute_uv")) {
    fail(Code::kUnimplemented, "The gradient of Svd is there for the singular values only, which ",
         "are to be computed with `compute_uv = FALSE`.");
  }
  Operation* again = g.op("Svd", {op.input(0)}).attr("compute_uv", true);
  const Output u = again->output(1), v = again->output(2);
  const Output row = g.op("ExpandDims", {dy[0], g.scalar(DType::kInt32, -2)});
  return {matrix_product(g, multiply(g, u, row), false, v, true)};
}

// Of the lower triangle, which alone is read.
Grads eigen_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output e = op.output(0);
  Output v = op.output(1), middle = g.op("MatrixDiag", {dy[0]});
  if (op.attr_bool("compute_v")) {
    const Output row = g.op("ExpandDims", {e, g.scalar(DType::kInt32, -2)});
    const Output column = g.op("ExpandDims", {e, g.scalar(DType::kInt32, -1)});
    const Output inverse = g.op(
        "MatrixSetDiag", {g.op("Reciprocal", {subtract(g, row, column)}), g.op("ZerosLike", {e})});
    middle = add(g, middle, multiply(g, inverse, matrix_product(g, v, true, dy[1], false)));
  } else {
    v = static_cast<Operation*>(g.op("SelfAdjointEigV2", {op.input(0)}))->output(1);
  }
  const Output left = matrix_product(g, v, false, middle, false);
  const Output full = matrix_product(g, left, false, v, true);
  const Output swapped =
      matrix_product(g, matrix_product(g, v, false, middle, true), false, v, true);
  const Output lower = band_part(g, add(g, full, swapped), -1, 0);
  const Output half = g.scalar(e.dtype(), 0.5);
  return {g.op("MatrixSetDiag", {lower, multiply(g, half, g.op("MatrixDiagPart", {lower}))})};
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
    .summary("q, whose columns are orthonormal, and r, upper triangular, with q r the input.")
    .example("f[4,3]")
    .example("f[2,3,3]");

RUNHOOKS_REGISTER_OP("Svd")
    .input("input: T, rank >= 2")
    .output("s: T")
    .output("u: T")
    .output("v: T")
    .attr("compute_uv: bool = true")
    .attr("full_matrices: bool = false")
    .attr("T: {float, double}")
    .shape(svd_shape)
    .kernel(kernel_by_type<SvdKernel, float, double>())
    .gradient(svd_gradient)
    .r("svd, linalg.svd(tensor as input, full_matrices = FALSE, compute_uv = TRUE, name = NULL)")
    .summary("The singular values of matrices, and the vectors that go with them.")
    .example("f[4,3] | compute_uv=false")
    .example("f[2,2,3] | compute_uv=false");

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
    .summary("The eigenvalues of symmetric matrices in rising order, and their vectors.")
    .example("m[3,3]")
    .example("m[2,2,2] | compute_v=false");

}  // namespace runhooks
