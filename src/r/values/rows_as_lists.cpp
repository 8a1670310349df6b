// A batch's values example by example.
#include <algorithm>

#include "r/values/border.h"
#include "r/values/handles.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {
namespace {

// An array whose first dimension counts the examples, of which cells are made: arrays of the other
// dimensions, of length 1 where there are none. What all cells share is made once.
class CellSource {
 public:
  explicit CellSource(SEXP values) : values_(values) {
    SEXP dim = Rf_getAttrib(values, R_DimSymbol);
    if (TYPEOF(dim) != INTSXP || Rf_xlength(dim) < 1) {
      invalid_argument("Only an array has cells, not a vector of type ",
                       Rf_type2char(TYPEOF(values)), ".");
    }
    const R_xlen_t rank = Rf_xlength(dim) - 1;
    n_ = INTEGER(dim)[0];
    size_ = n_ == 0 ? 0 : Rf_xlength(values) / n_;
    Rcpp::Shield<SEXP> rest(Rf_allocVector(INTSXP, std::max<R_xlen_t>(rank, 1)));
    INTEGER(rest)[0] = 1;
    std::copy_n(INTEGER(dim) + 1, rank, INTEGER(rest));
    dim_.reset(rest);
    Rcpp::CharacterVector classes = Rcpp::CharacterVector::create("tf_prediction", "array");
    if (rank == 2) classes.insert(1, "matrix");
    class_.reset(classes);
  }
  R_xlen_t size() const { return n_; }
  // Not protected.
  SEXP cell(R_xlen_t row) const {
    SEXP values = values_.get();
    Rcpp::Shield<SEXP> cell(Rf_allocVector(TYPEOF(values), size_));
    switch (TYPEOF(values)) {
      case LGLSXP:
        take(LOGICAL(values), LOGICAL(cell), row);
        break;
      case INTSXP:
        take(INTEGER(values), INTEGER(cell), row);
        break;
      case REALSXP:
        take(REAL(values), REAL(cell), row);
        break;
      case STRSXP:
        for (R_xlen_t i = 0; i < size_; ++i) {
          SET_STRING_ELT(cell, i, STRING_ELT(values, row + i * n_));
        }
        break;
      case VECSXP:
        for (R_xlen_t i = 0; i < size_; ++i) {
          SET_VECTOR_ELT(cell, i, VECTOR_ELT(values, row + i * n_));
        }
        break;
      default:
        fail(Code::kInternal, "Values of type ", Rf_type2char(TYPEOF(values)), " have no cells.");
    }
    Rf_setAttrib(cell, R_DimSymbol, dim_.get());
    Rf_setAttrib(cell, R_ClassSymbol, class_.get());
    return cell;
  }

 private:
  template <typename T>
  void take(const T* from, T* to, R_xlen_t row) const {
    for (R_xlen_t i = 0; i < size_; ++i) to[i] = from[row + i * n_];
  }

  Held values_, dim_, class_;
  R_xlen_t n_ = 0, size_ = 0;
};

// What the keys of a batch give, cell by cell.
struct Cells {
  explicit Cells(SEXP batch) : names(Rf_getAttrib(batch, R_NamesSymbol)) {
    const RList keys(batch, "a batch");
    for (R_xlen_t i = 0; i < keys.size(); ++i) columns.emplace_back(keys[i]);
    for (const CellSource& column : columns) {
      if (column.size() != size()) invalid_argument("The parts of a batch differ in their rows.");
    }
  }
  R_xlen_t size() const { return columns.empty() ? 0 : columns[0].size(); }
  // Not protected.
  SEXP example(R_xlen_t row) const {
    Rcpp::Shield<SEXP> list(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(columns.size())));
    for (size_t i = 0; i < columns.size(); ++i) {
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), columns[i].cell(row));
    }
    Rf_setAttrib(list, R_NamesSymbol, names.get());
    return list;
  }
  Held names;
  std::vector<CellSource> columns;
};

// Of several batches, and how many examples they have together.
std::vector<Cells> cells_of_batches(SEXP batches, R_xlen_t* n) {
  const RList given(batches, "batches");
  std::vector<Cells> all;
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    all.emplace_back(given[i]);
    *n += all.back().size();
  }
  return all;
}

}  // namespace
}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_cells(SEXP values) {
  return border([&]() -> SEXP {
    const CellSource source(values);
    Rcpp::Shield<SEXP> cells(Rf_allocVector(VECSXP, source.size()));
    for (R_xlen_t row = 0; row < source.size(); ++row) SET_VECTOR_ELT(cells, row, source.cell(row));
    return cells;
  });
}

// The examples of batches, one after the other, each as a list of what the keys of its batch give.
// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_examples(SEXP batches) {
  return border([&]() -> SEXP {
    R_xlen_t n = 0, at = 0;
    const std::vector<Cells> all = cells_of_batches(batches, &n);
    Rcpp::Shield<SEXP> list(Rf_allocVector(VECSXP, n));
    for (const Cells& cells : all) {
      for (R_xlen_t row = 0; row < cells.size(); ++row) {
        SET_VECTOR_ELT(list, at++, cells.example(row));
      }
    }
    return list;
  });
}

// The same key by key: for each of those of the first batch a list of all its cells.
// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_columns(SEXP batches) {
  return border([&]() -> SEXP {
    R_xlen_t n = 0;
    const std::vector<Cells> all = cells_of_batches(batches, &n);
    const size_t n_keys = all.empty() ? 0 : all[0].columns.size();
    Rcpp::Shield<SEXP> list(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(n_keys)));
    for (size_t k = 0; k < n_keys; ++k) {
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(k), Rf_allocVector(VECSXP, n));
    }
    R_xlen_t at = 0;
    for (const Cells& cells : all) {
      if (cells.columns.size() != n_keys) invalid_argument("The batches differ in their keys.");
      for (R_xlen_t row = 0; row < cells.size(); ++row, ++at) {
        for (size_t k = 0; k < n_keys; ++k) {
          SET_VECTOR_ELT(VECTOR_ELT(list, static_cast<R_xlen_t>(k)), at,
                         cells.columns[k].cell(row));
        }
      }
    }
    if (n_keys > 0) Rf_setAttrib(list, R_NamesSymbol, all[0].names.get());
    return list;
  });
}
