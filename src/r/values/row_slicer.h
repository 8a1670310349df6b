// RowSlicer, an array of which each example gets its part.
#pragma once

#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// Elements of a vector, `stride` apart, into another one of its type.
void copy_elements(SEXP from, R_xlen_t first, R_xlen_t stride, SEXP to, R_xlen_t at, R_xlen_t n);

// An array whose first dimension counts the examples, of which cells are made: arrays of the other
// dimensions, of length 1 where there are none. What all cells share is made once.
class RowSlicer {
 public:
  explicit RowSlicer(SEXP values);
  R_xlen_t size() const { return n_; }
  // Not protected.
  SEXP cell(R_xlen_t row) const;
  // All of them, a list. Not protected.
  SEXP cells() const;

 private:
  Preserved values_, first_cell_;
  R_xlen_t n_ = 0, size_ = 0;
};

}  // namespace r
}  // namespace runhooks
