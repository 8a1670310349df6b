// Conversion between tensors and Eigen matrices, and cancellation of Eigen's algorithms. Include it
// first.
#pragma once

#ifdef EIGEN_CORE_H
#error "linalg_matrix.h comes before Eigen's headers, or they do not read what it says"
#endif

// Eigen's SSE packet types cause thousands of compiler warnings, and speed matters little here.
#define EIGEN_DONT_VECTORIZE
// Cancellation throws, and exceptions must not leave OpenMP threads.
#define EIGEN_DONT_PARALLELIZE

#include <algorithm>
#include <cstdint>

#include "base/cancellation.h"

namespace runhooks {
namespace linalg {

// Cancellation points inside Eigen are placed in eigen_assert(), the only hook that Eigen offers.
// The assertions selected here run before Eigen packs a block of a product, assigns a matrix or
// rotates two vectors, and, much more often, before it writes sums of a product. Others are in
// destructors, which must not throw, or run too often.
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

inline void poll_between_sums() {
  static thread_local unsigned count = 0;
  if (++count % 1024 == 0) check_cancelled_throttled();
}

}  // namespace linalg
}  // namespace runhooks

#define eigen_assert(x)                                      \
  do {                                                       \
    eigen_plain_assert(x);                                   \
    if constexpr (runhooks::linalg::is_between_pieces(#x)) { \
      runhooks::check_cancelled_throttled();                 \
    }                                                        \
    if constexpr (runhooks::linalg::is_between_sums(#x)) {   \
      runhooks::linalg::poll_between_sums();                 \
    }                                                        \
  } while (false)
#include <Eigen/Core>

#include "ops/linalg/linalg.h"
#include "ops/state/gradient_helpers.h"

namespace runhooks {
namespace linalg {

// Always computes in double: these ops are rare, and each Eigen instantiation compiles slowly.
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
