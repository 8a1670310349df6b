// Matrix products for all numeric types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/cancellation.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "ops/math/integer_math.h"

namespace runhooks {

// y[m, n] = a b; `ta` and `tb` transpose an operand. Floating-point types have optimized kernels,
// integers use a plain loop.
template <typename T>
void matrix_product(
    bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* y) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < k; ++p) {
        sum = wrapping_add(sum, wrapping_multiply(ta ? a[p * m + i] : a[i * k + p],
                                                  tb ? b[j * k + p] : b[p * n + j]));
      }
      y[i * n + j] = sum;
    }
  }
}

// Multiplies blocks of rows, with a cancellation point between blocks. Blocks are large enough that
// the result is the same as for the whole product.
template <typename T, typename Gemm, typename GemmTurned>
void product_in_blocks(Gemm gemm,
                       GemmTurned gemm_turned,
                       bool ta,
                       bool tb,
                       int64_t m,
                       int64_t n,
                       int64_t k,
                       const T* a,
                       const T* b,
                       T* y) {
  constexpr int64_t kProducts = int64_t{1} << 29, kMinRows = 256;
  const int64_t width = std::max<int64_t>(1, n * k);
  const int64_t rows = std::max(kMinRows, kProducts / width / kMinRows * kMinRows);
  if (m < 2 * rows || !CancellableScope::is_active()) {
    gemm(ta, tb, m, n, k, a, b, y, false, kernel_threads());
    return;
  }
  for (int64_t first = 0; first < m;) {
    if (first > 0) check_cancelled();
    const int64_t count = m - first < 2 * rows ? m - first : rows;
    T* to = y + first * n;
    if (ta) {
      gemm_turned(tb, m, count, n, k, a + first, b, to, kernel_threads());
    } else {
      gemm(false, tb, count, n, k, a + first * k, b, to, false, kernel_threads());
    }
    first += count;
  }
}

inline void matrix_product(
    bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* y) {
  product_in_blocks(kernels().gemm->sgemm, kernels().gemm->sgemm_turned, ta, tb, m, n, k, a, b, y);
}

inline void matrix_product(bool ta,
                           bool tb,
                           int64_t m,
                           int64_t n,
                           int64_t k,
                           const double* a,
                           const double* b,
                           double* y) {
  product_in_blocks(kernels().gemm->dgemm, kernels().gemm->dgemm_turned, ta, tb, m, n, k, a, b, y);
}

// y[i] = a[i] b[i] for short products of equal shape.
inline void matrix_products(bool ta,
                            bool tb,
                            int64_t m,
                            int64_t n,
                            int64_t k,
                            const std::vector<const float*>& a,
                            const std::vector<const float*>& b,
                            const std::vector<float*>& y) {
  kernels().gemm->sgemm_each(static_cast<int64_t>(y.size()), ta, tb, m, n, k, a.data(), b.data(),
                             y.data(), kernel_threads());
}

inline void matrix_products(bool ta,
                            bool tb,
                            int64_t m,
                            int64_t n,
                            int64_t k,
                            const std::vector<const double*>& a,
                            const std::vector<const double*>& b,
                            const std::vector<double*>& y) {
  kernels().gemm->dgemm_each(static_cast<int64_t>(y.size()), ta, tb, m, n, k, a.data(), b.data(),
                             y.data(), kernel_threads());
}

}  // namespace runhooks
