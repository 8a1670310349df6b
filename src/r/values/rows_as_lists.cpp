// A batch's values example by example.
#include "r/values/border.h"
#include "r/values/handles.h"
#include "r/values/values.h"

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

// The cells of an array whose first dimension counts the examples: arrays of the other dimensions,
// of length 1 where there are none.
Rcpp::List cells_of_array(SEXP values) {
  SEXP dim = Rf_getAttrib(values, R_DimSymbol);
  if (TYPEOF(dim) != INTSXP || Rf_xlength(dim) < 1) {
    invalid_argument("Only an array has cells, not a vector of type ", Rf_type2char(TYPEOF(values)),
                     ".");
  }
  const Rcpp::IntegerVector dims(dim);
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
}

// What the keys of a batch give, cell by cell.
struct Cells {
  explicit Cells(SEXP batch) : names(Rf_getAttrib(batch, R_NamesSymbol)) {
    const RList keys(batch, "a batch");
    for (R_xlen_t i = 0; i < keys.size(); ++i) columns.emplace_back(cells_of_array(keys[i]));
    for (const Held& column : columns) {
      if (Rf_xlength(column.get()) == size()) continue;
      invalid_argument("The parts of a batch differ in their rows.");
    }
  }
  R_xlen_t size() const { return columns.empty() ? 0 : Rf_xlength(columns[0].get()); }
  // Not protected.
  SEXP example(R_xlen_t row) const {
    Rcpp::Shield<SEXP> list(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(columns.size())));
    for (size_t i = 0; i < columns.size(); ++i) {
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), VECTOR_ELT(columns[i].get(), row));
    }
    Rf_setAttrib(list, R_NamesSymbol, names.get());
    return list;
  }
  Held names;
  std::vector<Held> columns;
};

}  // namespace
}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_cells(SEXP values) {
  return border([&]() -> SEXP { return cells_of_array(values); });
}

// The examples of batches, one after the other, each as a list of what the keys of its batch give.
// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_examples(SEXP batches) {
  return border([&]() -> SEXP {
    const RList given(batches, "batches");
    std::vector<Cells> all;
    R_xlen_t n = 0;
    for (R_xlen_t i = 0; i < given.size(); ++i) {
      all.emplace_back(given[i]);
      n += all.back().size();
    }
    Rcpp::List list(n);
    R_xlen_t at = 0;
    for (const Cells& cells : all) {
      for (R_xlen_t row = 0; row < cells.size(); ++row) list[at++] = cells.example(row);
    }
    return list;
  });
}
