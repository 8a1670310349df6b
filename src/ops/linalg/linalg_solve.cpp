// Cholesky decomposition, inverse, determinant and linear solvers.
// clang-format off: linalg_matrix.h must be included before Eigen
#include "ops/linalg/linalg_matrix.h"
// clang-format on
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace runhooks {

namespace {

using namespace linalg;

template <typename T>
class CholeskyKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::LLT<Matrix> llt(to_matrix(input(0), n, n));
      if (llt.info() != Eigen::Success) {
        invalid_argument(
            "Cholesky decomposition was not successful. The input might not be valid.");
      }
      write_matrix<T>(llt.matrixL(), output(0));
    });
  }
};

using Lu = Eigen::PartialPivLU<Matrix>;

Lu checked_lu(const Matrix& a, const char* matrix_name) {
  Lu lu(a);
  // Only an exactly zero pivot is detected; nearly singular matrices are not.
  if (a.rows() > 0 && !(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) {
    invalid_argument(matrix_name, " is not invertible.");
  }
  return lu;
}

template <typename T>
class InverseKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    const bool adjoint = c.op().attr_bool("adjoint");
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      Matrix a = to_matrix(input(0), n, n);
      if (adjoint) a.transposeInPlace();
      if (n > 0) write_matrix<T>(checked_lu(a, "Input").inverse(), output(0));
    });
  }
};

template <typename T>
class SolveKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape &shape = c.input(0).shape(), &rhs = c.input(1).shape();
    const int64_t n = shape.dim(shape.rank() - 1), k = rhs.dim(rhs.rank() - 1);
    const bool adjoint = c.op().attr_bool("adjoint");
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      Matrix a = to_matrix(input(0), n, n);
      if (adjoint) a.transposeInPlace();
      if (n > 0 && k > 0) {
        write_matrix<T>(checked_lu(a, "Input matrix").solve(to_matrix(input(1), n, k)), output(0));
      }
    });
  }
};

template <typename T>
class TriangularSolveKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape &shape = c.input(0).shape(), &rhs = c.input(1).shape();
    const int64_t n = shape.dim(shape.rank() - 1), k = rhs.dim(rhs.rank() - 1);
    const bool lower = c.op().attr_bool("lower"), adjoint = c.op().attr_bool("adjoint");
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      Matrix a = to_matrix(input(0), n, n), x = to_matrix(input(1), n, k);
      if (n > 0 && !(a.diagonal().cwiseAbs().minCoeff() > 0)) {
        invalid_argument("Input matrix is not invertible.");
      }
      if (x.size() == 0) return;
      if (adjoint) a.transposeInPlace();
      if (lower != adjoint) {
        a.triangularView<Eigen::Lower>().solveInPlace(x);
      } else {
        a.triangularView<Eigen::Upper>().solveInPlace(x);
      }
      write_matrix<T>(x, output(0));
    });
  }
};

template <typename T>
class DeterminantKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const double value = n == 0 ? 1 : Lu(to_matrix(input(0), n, n)).determinant();
      *output(0) = static_cast<T>(value);
    });
  }
};

// The sign and the logarithm of the absolute value of the determinant, which cannot overflow.
template <typename T>
class LogDeterminantKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const int64_t n = shape.dim(shape.rank() - 1);
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      double sign = 1, log = 0;
      if (n > 0) {
        const Lu lu(to_matrix(input(0), n, n));
        sign = static_cast<double>(lu.permutationP().determinant());
        for (int64_t i = 0; i < n; ++i) {
          const double pivot = lu.matrixLU()(i, i);
          sign *= (pivot > 0) - (pivot < 0);
          log += std::log(std::abs(pivot));
        }
      }
      *output(0) = static_cast<T>(sign);
      *output(1) = static_cast<T>(log);
    });
  }
};

// Implements Murray (2016), "Differentiation of the Cholesky decomposition". As in TensorFlow, the
// gradient is symmetric.
Grads cholesky_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output l = op.output(0), half = g.scalar(l.dtype(), 0.5);
  const Output full = matrix_product(g, l, true, dy[0], false);
  // The lower triangle with half of the diagonal.
  const Output inner_grad = multiply(
      g, half, add(g, band_part(g, full, -1, 0), subtract(g, full, band_part(g, full, 0, -1))));
  const Output inverse = g.op("MatrixTriangularSolve", {l, identity_like(g, l)});
  const Output left = matrix_product(g, inverse, true, inner_grad, false);
  const Output grad = matrix_product(g, left, false, inverse, false);
  const Output transposed_grad =
      matrix_product(g, matrix_product(g, inverse, true, inner_grad, true), false, inverse, false);
  return {multiply(g, half, add(g, grad, transposed_grad))};
}

Grads inverse_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output y = op.output(0);
  const bool adjoint = op.attr_bool("adjoint");
  const Output right = matrix_product(g, dy[0], adjoint, y, !adjoint);
  return {negative(g, matrix_product(g, y, !adjoint, right, false))};
}

// Computes the gradient with respect to the matrix from that with respect to the right-hand side.
Output matrix_gradient(Graph& g, Operation& op, Output d_rhs) {
  const Output x = op.output(0);
  return negative(g, op.attr_bool("adjoint") ? matrix_product(g, x, false, d_rhs, true)
                                             : matrix_product(g, d_rhs, false, x, true));
}

Grads solve_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const Output d_rhs =
      g.op("MatrixSolve", {op.input(0), dy[0]}).attr("adjoint", !op.attr_bool("adjoint"));
  return {matrix_gradient(g, op, d_rhs), d_rhs};
}

Grads triangular_solve_gradient(Graph& g, Operation& op, const Outputs& dy) {
  const bool lower = op.attr_bool("lower");
  const Output d_rhs = g.op("MatrixTriangularSolve", {op.input(0), dy[0]})
                           .attr("lower", lower)
                           .attr("adjoint", !op.attr_bool("adjoint"));
  const Output full = matrix_gradient(g, op, d_rhs);
  return {lower ? band_part(g, full, -1, 0) : band_part(g, full, 0, -1), d_rhs};
}

// Multiplies inv(A)' by one factor per matrix. The derivative of det(A) is det(A) inv(A)', that of
// log|det(A)| is inv(A)'.
Output multiply_by_inverse(Graph& g, Operation& op, Output factor) {
  const Output inverse = g.op("MatrixInverse", {op.input(0)}).attr("adjoint", true);
  const Output minus_one = g.scalar(DType::kInt32, -1);
  const Output column = g.op("ExpandDims", {factor, minus_one});
  return multiply(g, g.op("ExpandDims", {column, minus_one}), inverse);
}

void solution_shape(ShapeContext& c) {
  const Shape &a = square_matrices(c, 0), &rhs = c.input(1);
  if (!a.has_rank() || !rhs.has_rank()) return c.set_output(0, rhs);
  const int64_t n = a.dim(a.rank() - 1), rows = rhs.dim(rhs.rank() - 2);
  const bool same_outer = outer_dims(a, 2).is_compatible_with(outer_dims(rhs, 2));
  if ((n >= 0 && rows >= 0 && n != rows) || !same_outer) {
    invalid_argument("Matrices of shape ", a, " do not match right-hand sides of shape ", rhs, ".");
  }
  c.set_output(0, rhs);
}

void square_matrices_shape(ShapeContext& c) { c.set_output(0, square_matrices(c, 0)); }

void one_per_matrix_shape(ShapeContext& c) {
  const Shape& x = square_matrices(c, 0);
  for (size_t i = 0; i < c.outputs().size(); ++i) {
    c.set_output(static_cast<int>(i), x.has_rank() ? outer_dims(x, 2) : Shape::unknown());
  }
}

}  // namespace

RUNHOOKS_REGISTER_OP("Cholesky")
    .input("input: T, rank >= 2")
    .output("output: T")
    .attr("T: {float, double}")
    .shape(square_matrices_shape)
    .kernel(kernel_by_type<CholeskyKernel, float, double>())
    .gradient(cholesky_gradient)
    .endpoint("cholesky")
    .endpoint("linalg.cholesky")
    .summary("The Cholesky factor l of a symmetric positive definite matrix l l'.")
    .example("m[3,3]")
    .example("m[2,2,2]");

RUNHOOKS_REGISTER_OP("MatrixInverse")
    .input("input: T, rank >= 2")
    .output("output: T")
    .attr("adjoint: bool = false")
    .attr("T: {float, double}")
    .shape(square_matrices_shape)
    .kernel(kernel_by_type<InverseKernel, float, double>())
    .gradient(inverse_gradient)
    .endpoint("matrix_inverse")
    .endpoint("linalg.inv")
    .summary("The inverses of square matrices.")
    .example("m[3,3]")
    .example("m[2,2,2] | adjoint=true");

RUNHOOKS_REGISTER_OP("MatrixSolve")
    .input("matrix: T, rank >= 2")
    .input("rhs: T, rank >= 2")
    .output("output: T")
    .attr("adjoint: bool = false")
    .attr("T: {float, double}")
    .shape(solution_shape)
    .kernel(kernel_by_type<SolveKernel, float, double>())
    .gradient(solve_gradient)
    .endpoint("matrix_solve")
    .endpoint("linalg.solve")
    .summary("Solves matrix x = rhs for x.")
    .example("m[3,3] f[3,2]")
    .example("m[2,2,2] f[2,2,3] | adjoint=true");

RUNHOOKS_REGISTER_OP("MatrixTriangularSolve")
    .input("matrix: T, rank >= 2")
    .input("rhs: T, rank >= 2")
    .output("output: T")
    .attr("lower: bool = true")
    .attr("adjoint: bool = false")
    .attr("T: {float, double}")
    .shape(solution_shape)
    .kernel(kernel_by_type<TriangularSolveKernel, float, double>())
    .gradient(triangular_solve_gradient)
    .endpoint("matrix_triangular_solve")
    .endpoint("linalg.triangular_solve")
    .summary("Solves matrix x = rhs for x with a lower or upper triangular matrix.")
    .example("m[3,3] f[3,2]")
    .example("m[2,2,2] f[2,2,3] | lower=false")
    .example("m[3,3] f[3,1] | adjoint=true")
    .example("m[3,3] f[3,1] | lower=false adjoint=true");

RUNHOOKS_REGISTER_OP("MatrixDeterminant")
    .input("input: T, rank >= 2")
    .output("output: T")
    .attr("T: {float, double}")
    .shape(one_per_matrix_shape)
    .kernel(kernel_by_type<DeterminantKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {multiply_by_inverse(g, op, multiply(g, dy[0], op.output(0)))};
    })
    .endpoint("matrix_determinant")
    .endpoint("linalg.det")
    .summary("The determinants of square matrices.")
    .example("m[3,3]")
    .example("m[2,2,2]");

RUNHOOKS_REGISTER_OP("LogMatrixDeterminant")
    .input("input: T, rank >= 2")
    .output("sign: T")
    .output("log_abs_determinant: T")
    .attr("T: {float, double}")
    .shape(one_per_matrix_shape)
    .kernel(kernel_by_type<LogDeterminantKernel, float, double>())
    .gradient([](Graph& g, Operation& op, const Outputs& dy) -> Grads {
      return {multiply_by_inverse(g, op, dy[1])};
    })
    .endpoint("linalg.slogdet")
    .summary("The signs of determinants and the logarithms of their absolute values.")
    .example("m[3,3]")
    .example("m[2,2,2]");

}  // namespace runhooks
