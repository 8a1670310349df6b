// RowSlicer splits an array along its first dimension.
#pragma once

#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// Copies `n` elements of `from`, `stride` apart and starting at `first`, to positions `at`, `at` +
// 1,
// ... of `to`, a vector of the same type.
void copy_elements(SEXP from, R_xlen_t first, R_xlen_t stride, SEXP to, R_xlen_t at, R_xlen_t n);

// A cell has the remaining dimensions; it is a vector of length 1 without them.
class RowSlicer {
 public:
  explicit RowSlicer(SEXP values);
  R_xlen_t size() const { return n_; }
  // Not protected.
  SEXP cell(R_xlen_t row) const;
  // A list of all cells. Not protected.
  SEXP cells() const;

 private:
  Preserved values_, first_cell_;
  R_xlen_t n_ = 0, size_ = 0;
};

}  // namespace r
}  // namespace runhooks
