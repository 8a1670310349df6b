// A batch's values example by example.
#include "r/values/border.h"

namespace runhooks {
namespace r {
namespace {

template <int RTYPE>
Rcpp::List cells_of(const Rcpp::Vector<RTYPE>& values, R_xlen_t n, SEXP dim, SEXP class_name) {
  const R_xlen_t size = n == 0 ? 0 : values.size() / n;
  Rcpp::List cells(n);
  for (R_xlen_t row = 0; row < n; ++row) {
    Rcpp::Vector<RTYPE> cell(size);
    for (R_xlen_t i = 0; i < size; ++i) cell[i] = values[row + i * n];
    cell.attr("dim") = dim;
    cell.attr("class") = class_name;
    cells[row] = cell;
  }
  return cells;
}

}  // namespace
}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// The cells of an array whose first dimension counts the examples: arrays of the other dimensions,
// of length 1 where there are none.
// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_cells(SEXP values) {
  return border([&]() -> SEXP {
    const Rcpp::IntegerVector dims(Rf_getAttrib(values, R_DimSymbol));
    Rcpp::IntegerVector rest(dims.begin() + 1, dims.end());
    if (rest.size() == 0) rest = Rcpp::IntegerVector::create(1);
    Rcpp::CharacterVector classes = Rcpp::CharacterVector::create("tf_prediction", "array");
    if (rest.size() == 2) classes.insert(1, "matrix");
    switch (TYPEOF(values)) {
      case LGLSXP:
        return cells_of<LGLSXP>(values, dims[0], rest, classes);
      case INTSXP:
        return cells_of<INTSXP>(values, dims[0], rest, classes);
      case REALSXP:
        return cells_of<REALSXP>(values, dims[0], rest, classes);
      case STRSXP:
        return cells_of<STRSXP>(values, dims[0], rest, classes);
      case VECSXP:
        return cells_of<VECSXP>(values, dims[0], rest, classes);
      default:
        fail(Code::kInternal, "Values of type ", Rf_type2char(TYPEOF(values)), " have no cells.");
    }
  });
}
