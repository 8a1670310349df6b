// RowSlicer splits an array along its first dimension.
#pragma once

#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// Copies `n` elements of `from`, starting at `first` and `stride` apart, to adjacent positions of
// `to`, starting at `at`. Both vectors have the same type.
void copy_elements(SEXP from, R_xlen_t first, R_xlen_t stride, SEXP to, R_xlen_t at, R_xlen_t n);

// A cell is one row: an array with the remaining dimensions, or a vector of length 1 if there are
// none. The results are not protected from R's collector.
class RowSlicer {
 public:
  explicit RowSlicer(SEXP values);
  R_xlen_t size() const { return n_; }
  SEXP cell(R_xlen_t row) const;
  // Returns a list of all cells.
  SEXP cells() const;

 private:
  Preserved values_, first_cell_;
  R_xlen_t n_ = 0, size_ = 0;
};

}  // namespace r
}  // namespace runhooks
