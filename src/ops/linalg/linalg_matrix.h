// What lives here: the matrix that the ops of linear algebra hand to Eigen, and how it comes from a tensor and goes back.
// Who may use it: ops/linalg_*.cpp, as their first include.
// What it must not know: which ops there are.
#pragma once

#ifdef EIGEN_CORE_H
#error "linalg_matrix.h comes before Eigen's headers, or they do not read what it says"
#endif

// Eigen's packets of SSE bring a warning for each template that takes one, thousands of lines; what
// is computed here is rare.
#define EIGEN_DONT_VECTORIZE
#include <Eigen/Core>
#include <algorithm>
#include <cstdint>

#include "ops/linalg/linalg.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {
namespace linalg {

using Grads = std::vector<Gradient>;
using Outputs = std::vector<Output>;

// Everything is computed in double, also for float32: it is rare and small, and Eigen's templates
// take long to compile.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
Matrix read(const T* from, int64_t rows, int64_t columns) {
  Matrix matrix(rows, columns);
  std::copy_n(from, rows * columns, matrix.data());
  return matrix;
}

template <typename T>
void write(const Matrix& matrix, T* to) {
  std::transform(matrix.data(), matrix.data() + matrix.size(), to,
                 [](double x) { return static_cast<T>(x); });
}

}  // namespace linalg
}  // namespace runhooks
