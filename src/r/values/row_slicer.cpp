#include "r/values/row_slicer.h"

#include <algorithm>
#include <cstring>

namespace runhooks {
namespace r {

namespace {

template <typename T>
void copy_numbers(const T* from, R_xlen_t first, R_xlen_t stride, T* to, R_xlen_t n) {
  for (R_xlen_t i = 0; i < n; ++i) to[i] = from[first + i * stride];
}

template <typename T>
bool are_same_bytes(const T* values, R_xlen_t a, R_xlen_t b, R_xlen_t stride, R_xlen_t n) {
  for (R_xlen_t i = 0; i < n; ++i, a += stride, b += stride) {
    if (std::memcmp(values + a, values + b, sizeof(T)) != 0) return false;
  }
  return true;
}

// Compares n elements from `a` on with n elements from `b` on, each `stride` apart.
bool are_bit_identical(SEXP values, R_xlen_t a, R_xlen_t b, R_xlen_t stride, R_xlen_t n) {
  switch (TYPEOF(values)) {
    case LGLSXP:
      return are_same_bytes(LOGICAL(values), a, b, stride, n);
    case INTSXP:
      return are_same_bytes(INTEGER(values), a, b, stride, n);
    case REALSXP:
      return are_same_bytes(REAL(values), a, b, stride, n);
    case STRSXP:  // R caches each string once
      return are_same_bytes(STRING_PTR_RO(values), a, b, stride, n);
    default:
      return false;
  }
}

SEXP cell_classes(bool is_matrix) {
  static SEXP cached[2] = {nullptr, nullptr};
  SEXP& classes = cached[is_matrix];
  if (classes) return classes;
  Rcpp::CharacterVector names = Rcpp::CharacterVector::create("tf_prediction", "array");
  if (is_matrix) names.insert(1, "matrix");
  R_PreserveObject(names);
  MARK_NOT_MUTABLE(names);
  return classes = names;
}

}  // namespace

void copy_elements(SEXP from, R_xlen_t first, R_xlen_t stride, SEXP to, R_xlen_t at, R_xlen_t n) {
  switch (TYPEOF(from)) {
    case LGLSXP:
      return copy_numbers(LOGICAL(from), first, stride, LOGICAL(to) + at, n);
    case INTSXP:
      return copy_numbers(INTEGER(from), first, stride, INTEGER(to) + at, n);
    case REALSXP:
      return copy_numbers(REAL(from), first, stride, REAL(to) + at, n);
    case STRSXP:
      for (R_xlen_t i = 0; i < n; ++i) {
        SET_STRING_ELT(to, at + i, STRING_ELT(from, first + i * stride));
      }
      return;
    case VECSXP:
      for (R_xlen_t i = 0; i < n; ++i) {
        SET_VECTOR_ELT(to, at + i, VECTOR_ELT(from, first + i * stride));
      }
      return;
    default:
      fail(Code::kInternal, "Values of type ", Rf_type2char(TYPEOF(from)), " cannot be sliced.");
  }
}

RowSlicer::RowSlicer(SEXP values) : values_(values) {
  SEXP dim = Rf_getAttrib(values, R_DimSymbol);
  if (TYPEOF(dim) != INTSXP || Rf_xlength(dim) < 1) {
    invalid_argument("An array is expected, not ", kind_in_words(values), " without dimensions.");
  }
  const R_xlen_t rank = Rf_xlength(dim) - 1;
  n_ = INTEGER(dim)[0];
  if (n_ == 0) return;
  size_ = Rf_xlength(values) / n_;
  Rcpp::Shield<SEXP> cell_dim(allocate_vector(INTSXP, std::max<R_xlen_t>(rank, 1)));
  INTEGER(cell_dim)[0] = 1;
  std::copy_n(INTEGER(dim) + 1, rank, INTEGER(cell_dim));
  Rcpp::Shield<SEXP> first(allocate_vector(TYPEOF(values), size_));
  copy_elements(values, 0, n_, first, 0, size_);
  Rf_setAttrib(first, R_DimSymbol, cell_dim);
  Rf_setAttrib(first, R_ClassSymbol, cell_classes(rank == 2));
  first_cell_.reset(first);
}

// Copies the first cell with its attributes, which is faster than setting them.
SEXP RowSlicer::cell(R_xlen_t row) const {
  Rcpp::Shield<SEXP> cell(Rf_shallow_duplicate(first_cell_.get()));
  if (row > 0) copy_elements(values_.get(), row, n_, cell, 0, size_);
  return cell;
}

SEXP RowSlicer::cells() const {
  Rcpp::Shield<SEXP> cells(allocate_vector(VECSXP, n_));
  for (R_xlen_t row = 0; row < n_; ++row) {
    // Equal rows, such as all_classes of a classifier, share one cell; R copies it on modification.
    const bool equals_previous =
        row > 0 && are_bit_identical(values_.get(), row, row - 1, n_, size_);
    SET_VECTOR_ELT(cells, row, equals_previous ? VECTOR_ELT(cells, row - 1) : cell(row));
  }
  return cells;
}

}  // namespace r
}  // namespace runhooks
