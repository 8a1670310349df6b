// Splits the values of batches into one list per example.
#include "r/values/guarded_entry.h"
#include "r/values/row_slicer.h"

namespace runhooks {
namespace r {
namespace {

// The values of a batch, split into one cell per example and key.
struct BatchCells {
  explicit BatchCells(SEXP batch) : names(Rf_getAttrib(batch, R_NamesSymbol)) {
    const RList keys(batch, "a batch");
    for (R_xlen_t i = 0; i < keys.size(); ++i) {
      if (Rf_getAttrib(keys[i], R_DimSymbol) == R_NilValue) throw missing_batch_dimension(key(i));
      columns.emplace_back(keys[i]);
      if (columns.back().size() == size()) continue;
      invalid_argument("The predictions of a batch differ in their number of rows: `", key(0),
                       "` has ", size(), ", `", key(i), "` has ", columns.back().size(), ".");
    }
  }
  std::string key(R_xlen_t i) const { return utf8_of(STRING_ELT(names.get(), i)); }
  static Error missing_batch_dimension(const std::string& key) {
    return Error(
        Code::kInvalidArgument,
        str_cat("Prediction `", key, "` has shape () where a row per example is expected."),
        {"`tf$squeeze(x, axis = 1L)` keeps the rows of a batch with one example."});
  }
  R_xlen_t size() const { return columns.empty() ? 0 : columns[0].size(); }
  // Returns the values of one example, which are not protected from R's collector.
  SEXP example(R_xlen_t row) const {
    Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, static_cast<R_xlen_t>(columns.size())));
    for (size_t i = 0; i < columns.size(); ++i) {
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), columns[i].cell(row));
    }
    Rf_setAttrib(list, R_NamesSymbol, names.get());
    return list;
  }
  Preserved names;
  std::vector<RowSlicer> columns;
};

// Splits several batches into cells. Adds the number of examples to `n`.
std::vector<BatchCells> cells_of_batches(SEXP batches, R_xlen_t* n) {
  const RList batch_list(batches, "batches");
  std::vector<BatchCells> cells;
  for (R_xlen_t i = 0; i < batch_list.size(); ++i) {
    cells.emplace_back(batch_list[i]);
    *n += cells.back().size();
  }
  return cells;
}

}  // namespace
}  // namespace r
}  // namespace runhooks

using namespace runhooks;
using namespace runhooks::r;

// Returns the examples of all batches, each as a named list with one cell per key.
// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_examples(SEXP batches) {
  return guarded_entry([&]() -> SEXP {
    R_xlen_t n = 0, at = 0;
    const std::vector<BatchCells> cells_by_batch = cells_of_batches(batches, &n);
    Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, n));
    for (const BatchCells& cells : cells_by_batch) {
      for (R_xlen_t row = 0; row < cells.size(); ++row) {
        SET_VECTOR_ELT(list, at++, cells.example(row));
      }
    }
    return list;
  });
}

// Returns for each key of the first batch a list of the cells of all batches.
// [[Rcpp::export(rng = false)]]
SEXP cpp_batch_columns(SEXP batches) {
  return guarded_entry([&]() -> SEXP {
    R_xlen_t n = 0;
    const std::vector<BatchCells> cells_by_batch = cells_of_batches(batches, &n);
    const size_t n_keys = cells_by_batch.empty() ? 0 : cells_by_batch[0].columns.size();
    Rcpp::Shield<SEXP> list(allocate_vector(VECSXP, static_cast<R_xlen_t>(n_keys)));
    for (size_t k = 0; k < n_keys; ++k) {
      SET_VECTOR_ELT(list, static_cast<R_xlen_t>(k), allocate_vector(VECSXP, n));
    }
    R_xlen_t at = 0;
    for (const BatchCells& cells : cells_by_batch) {
      if (cells.columns.size() != n_keys) {
        invalid_argument("The batches differ in their number of keys.");
      }
      for (R_xlen_t row = 0; row < cells.size(); ++row, ++at) {
        for (size_t k = 0; k < n_keys; ++k) {
          SET_VECTOR_ELT(VECTOR_ELT(list, static_cast<R_xlen_t>(k)), at,
                         cells.columns[k].cell(row));
        }
      }
    }
    if (n_keys > 0) Rf_setAttrib(list, R_NamesSymbol, cells_by_batch[0].names.get());
    return list;
  });
}
