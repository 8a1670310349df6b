// Matrix products for all numeric types.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/cancellation.h"
#include "base/threads.h"
#include "kernels/kernels.h"
#include "ops/math/integer_math.h"

namespace runhooks {

// Multiplies blocks of rows and polls for cancellation between blocks. Blocks are so large that the
// result has the same bits as the whole product.
template <typename T>
void product_in_blocks(
    bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* y) {
  const GemmFunctions<T>& gemm = kernels().gemm->of<T>();
  constexpr int64_t kMultiplicationsPerBlock = int64_t{1} << 29, kMinRows = 256;
  const int64_t width = std::max<int64_t>(1, n * k);
  const int64_t rows = std::max(kMinRows, kMultiplicationsPerBlock / width / kMinRows * kMinRows);
  if (m < 2 * rows || !CancellableScope::is_active()) {
    gemm.product(ta, tb, m, n, k, a, b, y, false, kernel_threads());
    return;
  }
  for (int64_t first = 0; first < m;) {
    if (first > 0) check_cancelled();
    const int64_t count = m - first < 2 * rows ? m - first : rows;
    T* to = y + first * n;
    if (ta) {
      gemm.turned(tb, m, count, n, k, a + first, b, to, kernel_threads());
    } else {
      gemm.product(false, tb, count, n, k, a + first * k, b, to, false, kernel_threads());
    }
    first += count;
  }
}

// Computes y[m, n] = a b. `ta` and `tb` tell whether an operand is transposed. Floating-point types
// have optimized kernels; integers use a plain loop.
template <typename T>
void matrix_product(
    bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, const T* b, T* y) {
  if constexpr (std::is_floating_point_v<T>) {
    product_in_blocks(ta, tb, m, n, k, a, b, y);
  } else {
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
}

}  // namespace runhooks
