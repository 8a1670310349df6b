// The QR decomposition of a matrix by Householder's reflections.
#include <algorithm>
#include <cmath>

#include "graph/op_registry.h"

namespace runhooks {

namespace {

// Of m x n with any m, n: q is m x k and r is k x n for k = min(m, n). Works in double, because it
// is rare and small.
template <typename T>
class QrKernel : public Kernel {
 public:
  void compute(KernelContext& c) override {
    const Shape& shape = c.input(0).shape();
    m_ = shape.dim(0);
    n_ = shape.dim(1);
    k_ = std::min(m_, n_);
    const T* x = c.input(0).data<T>();
    r_.assign(x, x + m_ * n_);
    reflectors_.assign(static_cast<size_t>(m_ * k_), 0);
    for (int64_t j = 0; j < k_; ++j) reflect(j);
    T* r = c.output(1).template data<T>();
    for (int64_t i = 0; i < k_; ++i) {
      for (int64_t j = 0; j < n_; ++j) r[i * n_ + j] = j < i ? T(0) : static_cast<T>(at(i, j));
    }
    T* q = c.output(0).template data<T>();
    for (int64_t j = 0; j < k_; ++j) column_of_q(j, q);
  }

 private:
  double& at(int64_t i, int64_t j) { return r_[static_cast<size_t>(i * n_ + j)]; }
  double& reflector(int64_t i, int64_t j) { return reflectors_[static_cast<size_t>(i * k_ + j)]; }

  // Makes column j of r 0 below its diagonal; the reflector is kept with length 1.
  void reflect(int64_t j) {
    double norm = 0;
    for (int64_t i = j; i < m_; ++i) norm += at(i, j) * at(i, j);
    norm = std::sqrt(norm);
    const double target = at(j, j) > 0 ? -norm : norm;
    double length = 0;
    for (int64_t i = j; i < m_; ++i) {
      reflector(i, j) = at(i, j) - (i == j ? target : 0);
      length += reflector(i, j) * reflector(i, j);
    }
    if (length == 0) return;
    length = std::sqrt(length);
    for (int64_t i = j; i < m_; ++i) reflector(i, j) /= length;
    for (int64_t col = j; col < n_; ++col) {
      double dot = 0;
      for (int64_t i = j; i < m_; ++i) dot += reflector(i, j) * at(i, col);
      for (int64_t i = j; i < m_; ++i) at(i, col) -= 2 * dot * reflector(i, j);
    }
  }

  void column_of_q(int64_t j, T* q) {
    std::vector<double> column(static_cast<size_t>(m_), 0);
    column[static_cast<size_t>(j)] = 1;
    for (int64_t step = k_ - 1; step >= 0; --step) {
      double dot = 0;
      for (int64_t i = step; i < m_; ++i)
        dot += reflector(i, step) * column[static_cast<size_t>(i)];
      for (int64_t i = step; i < m_; ++i) {
        column[static_cast<size_t>(i)] -= 2 * dot * reflector(i, step);
      }
    }
    for (int64_t i = 0; i < m_; ++i) q[i * k_ + j] = static_cast<T>(column[static_cast<size_t>(i)]);
  }

  int64_t m_ = 0, n_ = 0, k_ = 0;
  std::vector<double> r_, reflectors_;
};

}  // namespace

RUNHOOKS_REGISTER_OP("Qr")
    .input("input: T")
    .output("q: T")
    .output("r: T")
    .attr("T: {float, double}")
    .shape([](ShapeContext& c) {
      const Shape x = c.with_rank(0, 2);
      const int64_t m = x.dim(0), n = x.dim(1);
      const int64_t k = m < 0 || n < 0 ? Shape::kUnknownDim : std::min(m, n);
      c.set_output(0, Shape{m, k});
      c.set_output(1, Shape{k, n});
    })
    .kernel(kernel_by_type<QrKernel, float, double>())
    .not_differentiable()
    .endpoint("qr")
    .r("qr(input, full_matrices = FALSE, name = NULL)")
    .summary("q, whose columns are orthonormal, and r, upper triangular, with q r the input.")
    .example("f[4,3]")
    .example("f[2,3]");

}  // namespace runhooks
