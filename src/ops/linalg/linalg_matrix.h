// Converts between tensors and Eigen matrices, and makes Eigen's algorithms cancellable. Include it
// before other headers, because it defines macros that configure Eigen.
#pragma once

#ifdef EIGEN_CORE_H
#error "Include linalg_matrix.h before Eigen's headers, because it defines their macros"
#endif

// With vectorization, Eigen's SSE types cause thousands of compiler warnings. Speed matters little
// here.
#define EIGEN_DONT_VECTORIZE
// Cancellation throws an exception, which must not leave an OpenMP thread.
#define EIGEN_DONT_PARALLELIZE

#include <algorithm>
#include <cstdint>

#include "base/cancellation.h"

namespace runhooks {
namespace linalg {

// Eigen has no cancellation, but it calls eigen_assert() everywhere, so the macro also polls for
// cancellation. It polls only at selected assertions, which are recognized by their text. Most run
// before Eigen packs a block of a product, assigns a matrix or rotates two vectors. One runs much
// more often, before Eigen writes sums of a product. The other assertions are in destructors, which
// must not throw, or run too often.
constexpr bool begins_with(const char* text, const char* start) {
  while (*start && *text == *start) ++text, ++start;
  return !*start;
}
constexpr bool is_coarse_poll_point(const char* assertion) {
  return begins_with(assertion, "((!PanelMode)") ||
         begins_with(assertion, "dst.rows() == src.rows()") ||
         begins_with(assertion, "xpr_x.size() == xpr_y.size()");
}
constexpr bool is_frequent_poll_point(const char* assertion) {
  return begins_with(assertion, "incr==1");
}

inline void poll_every_1024_calls() {
  static thread_local unsigned count = 0;
  if (++count % 1024 == 0) check_cancelled_throttled();
}

}  // namespace linalg
}  // namespace runhooks

#define eigen_assert(x)                                           \
  do {                                                            \
    eigen_plain_assert(x);                                        \
    if constexpr (runhooks::linalg::is_coarse_poll_point(#x)) {   \
      runhooks::check_cancelled_throttled();                      \
    }                                                             \
    if constexpr (runhooks::linalg::is_frequent_poll_point(#x)) { \
      runhooks::linalg::poll_every_1024_calls();                  \
    }                                                             \
  } while (false)
#include <Eigen/Core>

#include "ops/linalg/linalg.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {
namespace linalg {

// Always computes in double: these ops are rare, and each Eigen instantiation compiles slowly.
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <typename T>
Matrix to_matrix(const T* from, int64_t rows, int64_t columns) {
  Matrix matrix(rows, columns);
  std::copy_n(from, rows * columns, matrix.data());
  return matrix;
}

template <typename T>
void write_matrix(const Matrix& matrix, T* to) {
  std::transform(matrix.data(), matrix.data() + matrix.size(), to,
                 [](double x) { return static_cast<T>(x); });
}

}  // namespace linalg
}  // namespace runhooks
