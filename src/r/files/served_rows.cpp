#include "r/files/served_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "r/values/guarded_entry.h"
#include "r/values/row_slicer.h"

namespace runhooks {
namespace r {

namespace {

constexpr const char* kClassColumn = ".pred_class";

// Returns the first dimension of an array; -1 for a vector.
R_xlen_t rows_of_array(SEXP x) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  return Rf_xlength(dim) == 0 ? -1 : INTEGER(dim)[0];
}

R_xlen_t common_row_count(SEXP values) {
  R_xlen_t n = -1;
  for (R_xlen_t i = 0; i < Rf_xlength(values); ++i) {
    n = std::max(n, rows_of_array(VECTOR_ELT(values, i)));
  }
  return n < 0 ? 1 : n;
}

SEXP repeat_for_rows(SEXP x, R_xlen_t n) {
  Rcpp::Shield<SEXP> cells(allocate_vector(VECSXP, n)), classes(text_to_r("tf_prediction"));
  Rf_setAttrib(x, R_ClassSymbol, classes);
  for (R_xlen_t row = 0; row < n; ++row) SET_VECTOR_ELT(cells, row, x);
  return cells;
}

SEXP cells_of(SEXP x, R_xlen_t n) {
  return rows_of_array(x) == n ? RowSlicer(x).cells() : repeat_for_rows(x, n);
}

bool is_table(SEXP x, R_xlen_t n) {
  return Rf_xlength(Rf_getAttrib(x, R_DimSymbol)) == 2 && rows_of_array(x) == n;
}
R_xlen_t width_of(SEXP table) { return INTEGER(Rf_getAttrib(table, R_DimSymbol))[1]; }

bool is_numeric(SEXP x) {
  return TYPEOF(x) == REALSXP || TYPEOF(x) == INTSXP || TYPEOF(x) == LGLSXP;
}

// Returns the index of the first maximum in a row of scores; -1 if a score is NaN.
R_xlen_t index_of_maximum(const double* scores, R_xlen_t row, R_xlen_t n, R_xlen_t width) {
  R_xlen_t best = 0;
  for (R_xlen_t k = 0; k < width; ++k) {
    const double score = scores[row + k * n];
    if (std::isnan(score)) return -1;
    if (score > scores[row + best * n]) best = k;
  }
  return best;
}

void set_missing(SEXP x, R_xlen_t i) {
  if (TYPEOF(x) == STRSXP) SET_STRING_ELT(x, i, NA_STRING);
  if (TYPEOF(x) == REALSXP) REAL(x)[i] = NA_REAL;
  if (TYPEOF(x) == INTSXP) INTEGER(x)[i] = NA_INTEGER;
  if (TYPEOF(x) == LGLSXP) LOGICAL(x)[i] = NA_LOGICAL;
}

SEXP best_classes(SEXP classes, SEXP scores, R_xlen_t n) {
  const R_xlen_t width = width_of(classes);
  Rcpp::Shield<SEXP> classes_by_row(allocate_vector(TYPEOF(classes), n));
  Rcpp::Shield<SEXP> numbers(Rf_coerceVector(scores, REALSXP));
  for (R_xlen_t row = 0; row < n; ++row) {
    const R_xlen_t best = index_of_maximum(REAL(numbers), row, n, width);
    if (best < 0) {
      set_missing(classes_by_row, row);
    } else {
      copy_elements(classes, row + best * n, 1, classes_by_row, row, 1);
    }
  }
  return classes_by_row;
}

// Converts strings to a factor, or returns `x` if it cannot. Looks up strings by address, because R
// has one object per string. The result is not protected from R's collector.
SEXP factor_of_strings(SEXP x, SEXP levels) {
  std::unordered_map<SEXP, int> codes;
  for (R_xlen_t i = 0; i < Rf_xlength(levels); ++i) {
    if (!codes.emplace(STRING_ELT(levels, i), static_cast<int>(i + 1)).second) return x;
  }
  Rcpp::Shield<SEXP> factor(allocate_vector(INTSXP, Rf_xlength(x))), classes(text_to_r("factor"));
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    const auto found = codes.find(STRING_ELT(x, i));
    INTEGER(factor)[i] = found == codes.end() ? NA_INTEGER : found->second;
  }
  Rf_setAttrib(factor, R_LevelsSymbol, levels);
  Rf_setAttrib(factor, R_ClassSymbol, classes);
  return factor;
}

SEXP factor_of(SEXP x, SEXP levels) {
  if (TYPEOF(x) == STRSXP && TYPEOF(levels) == STRSXP) return factor_of_strings(x, levels);
  return call_internal("factor_of_classes", {x, levels});
}

// Returns the class of each row: the only class in `classes`, or the class with the highest score.
// Returns a factor if the outputs contain the names of all classes.
SEXP class_of_rows(SEXP values, R_xlen_t n) {
  SEXP classes = list_element(values, "classes"), scores = list_element(values, "scores");
  SEXP all = list_element(values, "all_classes");
  if (!is_table(classes, n)) return R_NilValue;
  const R_xlen_t width = width_of(classes);
  const bool has_scores =
      width > 0 && is_table(scores, n) && width_of(scores) == width && is_numeric(scores);
  if (!has_scores && width != 1) return R_NilValue;
  Rcpp::Shield<SEXP> classes_by_row(has_scores ? best_classes(classes, scores, n)
                                               : allocate_vector(TYPEOF(classes), n));
  if (has_scores) {
    all = classes;
  } else {
    copy_elements(classes, 0, 1, classes_by_row, 0, n);
  }
  if (n == 0 || !is_table(all, n)) return classes_by_row;
  Rcpp::Shield<SEXP> levels(allocate_vector(TYPEOF(all), width_of(all)));
  copy_elements(all, 0, n, levels, 0, width_of(all));
  return factor_of(classes_by_row, levels);
}

void make_tibble(SEXP list, SEXP names, R_xlen_t n) {
  Rcpp::Shield<SEXP> rows(allocate_vector(INTSXP, 2)), classes(allocate_vector(STRSXP, 3));
  INTEGER(rows)[0] = NA_INTEGER;
  INTEGER(rows)[1] = -static_cast<int>(n);
  R_xlen_t at = 0;
  for (const char* name : {"tbl_df", "tbl", "data.frame"}) {
    SET_STRING_ELT(classes, at++, utf8_element(name));
  }
  Rf_setAttrib(list, R_NamesSymbol, names);
  Rf_setAttrib(list, R_RowNamesSymbol, rows);
  Rf_setAttrib(list, R_ClassSymbol, classes);
}

}  // namespace

SEXP served_table(SEXP values) {
  const R_xlen_t n = common_row_count(values);
  Rcpp::Shield<SEXP> classes(class_of_rows(values, n)),
      outputs(Rf_getAttrib(values, R_NamesSymbol));
  // Omits an output with the name .pred_class, because the predicted class gets this column.
  std::vector<R_xlen_t> output_indices;
  for (R_xlen_t i = 0; i < Rf_xlength(values); ++i) {
    if (!equals_ascii(STRING_ELT(outputs, i), kClassColumn)) output_indices.push_back(i);
  }
  auto at = static_cast<R_xlen_t>(output_indices.size());
  const R_xlen_t width = at + (classes == R_NilValue ? 0 : 1);
  Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, width)), names(allocate_vector(STRSXP, width));
  if (classes != R_NilValue) {
    SET_VECTOR_ELT(list, at, classes);
    SET_STRING_ELT(names, at, utf8_element(kClassColumn));
  }
  while (--at >= 0) {
    const R_xlen_t from = output_indices[static_cast<size_t>(at)];
    SET_VECTOR_ELT(list, at, cells_of(VECTOR_ELT(values, from), n));
    SET_STRING_ELT(names, at, STRING_ELT(outputs, from));
  }
  make_tibble(list, names, n);
  return list;
}

SEXP served_lists(SEXP values) {
  const R_xlen_t n = common_row_count(values), width = Rf_xlength(values);
  Rcpp::Shield<SEXP> names(Rf_getAttrib(values, R_NamesSymbol));
  Rcpp::Shield<SEXP> rows(allocate_vector(VECSXP, n)), columns(allocate_vector(VECSXP, width));
  for (R_xlen_t k = 0; k < width; ++k) {
    SET_VECTOR_ELT(columns, k, cells_of(VECTOR_ELT(values, k), n));
  }
  for (R_xlen_t row = 0; row < n; ++row) {
    SEXP cells = allocate_vector(VECSXP, width);
    SET_VECTOR_ELT(rows, row, cells);
    for (R_xlen_t k = 0; k < width; ++k) {
      SET_VECTOR_ELT(cells, k, VECTOR_ELT(VECTOR_ELT(columns, k), row));
    }
    Rf_setAttrib(cells, R_NamesSymbol, names);
  }
  return rows;
}

}  // namespace r
}  // namespace runhooks
