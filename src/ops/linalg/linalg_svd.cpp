// Singular value decomposition.
// clang-format off: linalg_matrix.h must be included before Eigen
#include "ops/linalg/linalg_matrix.h"
// clang-format on
#include <Eigen/SVD>

// Instantiated in linalg_svd_parts.cpp to reduce the memory that compiling needs.
extern template class Eigen::JacobiSVD<Eigen::MatrixXd>;
extern template class Eigen::internal::UpperBidiagonalization<Eigen::MatrixXd>;

namespace runhooks {

namespace {

using namespace linalg;

void svd_shape(ShapeContext& c) {
  const Shape& x = c.input(0);
  if (!x.has_rank()) return;
  const MatrixSize d = matrix_size(x);
  const Shape outer = outer_dims(x, 2);
  const bool full_matrices = c.op().attr_bool("full_matrices");
  c.set_output(0, with_dims(outer, {d.min_dim()}));
  if (!c.op().attr_bool("compute_uv")) {
    c.set_output(1, Shape{0});
    c.set_output(2, Shape{0});
    return;
  }
  c.set_output(1, with_dims(outer, {d.m, full_matrices ? d.m : d.min_dim()}));
  c.set_output(2, with_dims(outer, {d.n, full_matrices ? d.n : d.min_dim()}));
}

template <typename T>
class SvdKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    const MatrixSize d = matrix_size(shape);
    const bool computes_vectors = c.op().attr_bool("compute_uv"),
               full_matrices = c.op().attr_bool("full_matrices");
    unsigned options = 0;
    if (computes_vectors) {
      options = full_matrices ? Eigen::ComputeFullU | Eigen::ComputeFullV
                              : Eigen::ComputeThinU | Eigen::ComputeThinV;
    }
    const int64_t k = d.min_dim();
    if (k == 0) return write_identity_bases(c, d, computes_vectors && full_matrices);
    for_each_matrix<T>(c, count_matrices(shape), [&](auto input, auto output) {
      const Eigen::BDCSVD<Eigen::MatrixXd> svd(to_matrix(input(0), d.m, d.n), options);
      write_matrix<T>(svd.singularValues(), output(0));
      if (!computes_vectors) return;
      write_matrix<T>(svd.matrixU(), output(1));
      write_matrix<T>(svd.matrixV(), output(2));
    });
  }

 private:
  // For matrices without elements: any orthogonal matrix is a valid result, so uses the identity.
  static void write_identity_bases(KernelContext& c, const MatrixSize& d, bool full_matrices) {
    if (!full_matrices) return;
    for_each_matrix<T>(c, count_matrices(c.input(0).shape()), [&](auto, auto output) {
      write_matrix<T>(Matrix::Identity(d.m, d.m), output(1));
      write_matrix<T>(Matrix::Identity(d.n, d.n), output(2));
    });
  }
};

// Only singular values have a gradient here, not singular vectors.
Grads svd_gradient(Graph& g, Operation& op, const Outputs& dy) {
  if (op.attr_bool("compute_uv")) {
    fail(Code::kUnimplemented, "The gradient of Svd is implemented for singular values only; ",
         "use `compute_uv = FALSE`.");
  }
  Operation* svd = g.op("Svd", {op.input(0)}).attr("compute_uv", true);
  const Output u = svd->output(1), v = svd->output(2);
  const Output row = g.op("ExpandDims", {dy[0], g.scalar(DType::kInt32, -2)});
  return {matrix_product(g, multiply(g, u, row), false, v, true)};
}

}  // namespace

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
    .summary("The singular values and singular vectors of matrices.")
    .example("f[4,3] | compute_uv=false")
    .example("f[2,2,3] | compute_uv=false");

}  // namespace runhooks
