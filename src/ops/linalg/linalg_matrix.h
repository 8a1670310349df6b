// What lives here: the matrix that the ops of linear algebra hand to Eigen, how it comes from a tensor and goes back, and how the user stops Eigen.
// Who may use it: ops/linalg_*.cpp, as their first include.
// What it must not know: which ops there are.
#pragma once

#ifdef EIGEN_CORE_H
#error "linalg_matrix.h comes before Eigen's headers, or they do not read what it says"
#endif

// Eigen's packets of SSE bring a warning for each template that takes one, thousands of lines; what
// is computed here is rare.
#define EIGEN_DONT_VECTORIZE
// Who asks within may throw, which nothing catches on threads of OpenMP's.
#define EIGEN_DONT_PARALLELIZE

#include <algorithm>
#include <cstdint>

#include "base/cancellation.h"

namespace runhooks {
namespace linalg {

// Eigen can be left where it asserts something, and does so between its pieces of work: before it
// packs a block of a product, assigns a matrix, rotates two vectors; and, much more often, where it
// is about to write a few sums of a product. Other assertions are in destructors, or far too many.
constexpr bool begins_with(const char* text, const char* start) {
  while (*start && *text == *start) ++text, ++start;
  return !*start;
}
constexpr bool is_between_pieces(const char* assertion) {
  return begins_with(assertion, "((!PanelMode)") ||
         begins_with(assertion, "dst.rows() == src.rows()") ||
         begins_with(assertion, "xpr_x.size() == xpr_y.size()");
}
constexpr bool is_between_sums(const char* assertion) { return begins_with(assertion, "incr==1"); }

inline void ask_between_sums() {
  static thread_local unsigned count = 0;
  if (++count % 1024 == 0) check_cancelled_throttled();
}

}  // namespace linalg
}  // namespace runhooks

#define eigen_assert(x)                                      \
  do {                                                       \
    eigen_plain_assert(x);                                   \
    if constexpr (runhooks::linalg::is_between_pieces(#x)) { \
      runhooks::check_cancelled_throttled();           \
    }                                                        \
    if constexpr (runhooks::linalg::is_between_sums(#x)) {   \
      runhooks::linalg::ask_between_sums();                  \
    }                                                        \
  } while (false)
#include <Eigen/Core>

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
