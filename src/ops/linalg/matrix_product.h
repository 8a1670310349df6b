// What lives here: the product of two matrices of any number type.
// Who may use it: ops.
// What it must not know: tensors, kernels of operations, R.
#pragma once

#include <cstdint>

#include "base/threads.h"
#include "kernels/kernels.h"
#include "ops/math/integer_math.h"

namespace runhooks {

// y[m, n] = a b, where `ta` and `tb` say which operand is transposed. The hot loops exist for
// floating point; integers take the plain way.
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

inline void matrix_product(
    bool ta, bool tb, int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* y) {
  sgemm(ta, tb, m, n, k, a, b, y, false, kernel_threads());
}

inline void matrix_product(bool ta,
                           bool tb,
                           int64_t m,
                           int64_t n,
                           int64_t k,
                           const double* a,
                           const double* b,
                           double* y) {
  dgemm(ta, tb, m, n, k, a, b, y, false, kernel_threads());
}

}  // namespace runhooks
