#include <algorithm>

#include "data/in_memory.h"
#include "r/data/input.h"
#include "r/values/classed.h"
#include "r/values/handles.h"
#include "r/values/owned_objects.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

// Smaller data are copied: that is cheap and makes row access faster.
constexpr size_t kMinBytes = size_t{32} << 20;
// With fewer batches a copy is better: a batch of all rows needs a tensor anyway.
constexpr int64_t kMinBatches = 8;

size_t numeric_bytes(SEXP x) {
  const auto n = static_cast<size_t>(Rf_xlength(x));
  if (TYPEOF(x) == REALSXP) return n * sizeof(double);
  if (TYPEOF(x) == INTSXP) return n * sizeof(int);
  size_t bytes = 0;
  for (size_t i = 0; TYPEOF(x) == VECSXP && i < n; ++i) {
    SEXP part = VECTOR_ELT(x, static_cast<R_xlen_t>(i));
    if (TYPEOF(part) != VECSXP) bytes += numeric_bytes(part);
  }
  return bytes;
}

struct Parts {
  std::vector<ColumnView> columns;
  int64_t rows = -1;
  bool has_doubles = false;
};

// Returns false for other types and NA_integer_, so that the copying path reports the error.
bool add_part(SEXP x, Parts& parts) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  if (dim != R_NilValue && Rf_xlength(dim) != 2) return false;
  const int64_t rows = dim == R_NilValue ? Rf_xlength(x) : INTEGER(dim)[0];
  const int64_t width = dim == R_NilValue ? 1 : INTEGER(dim)[1];
  if (parts.rows >= 0 && rows != parts.rows) return false;
  parts.rows = rows;
  if (TYPEOF(x) == REALSXP) {
    const double* from = REAL_RO(x);
    for (int64_t c = 0; c < width; ++c) parts.columns.push_back({from + c * rows, nullptr});
    parts.has_doubles = true;
    return true;
  }
  if (TYPEOF(x) != INTSXP) return false;
  const int* from = INTEGER_RO(x);
  if (std::find(from, from + Rf_xlength(x), NA_INTEGER) != from + Rf_xlength(x)) return false;
  for (int64_t c = 0; c < width; ++c) parts.columns.push_back({nullptr, from + c * rows});
  return true;
}

std::shared_ptr<const ColumnViews> rows_in_place(SEXP x, DType wanted) {
  if (holds_integer64(x)) return nullptr;
  Parts parts;
  const bool is_list = TYPEOF(x) == VECSXP;
  for (R_xlen_t i = 0; i < (is_list ? Rf_xlength(x) : 1); ++i) {
    if (!add_part(is_list ? VECTOR_ELT(x, i) : x, parts)) return nullptr;
  }
  const DType natural = parts.has_doubles ? DType::kFloat64 : DType::kInt32;
  const DType dtype = wanted == DType::kInvalid ? natural : wanted;
  const bool is_known = dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
                        (dtype == DType::kInt32 && !parts.has_doubles);
  if (!is_known || parts.rows < 1) return nullptr;
  const bool is_matrix = is_list || Rf_getAttrib(x, R_DimSymbol) != R_NilValue;
  const auto width = static_cast<int64_t>(parts.columns.size());
  const Shape shape = is_matrix ? Shape{parts.rows, width} : Shape{parts.rows};
  // Preserving `x` marks it as shared, so R copies it before modifying it.
  const OwnedObjects::Scope apart(nullptr);
  return std::make_shared<ColumnViews>(dtype, shape, std::move(parts.columns),
                                       std::make_shared<const Preserved>(x));
}

}  // namespace

std::vector<std::shared_ptr<const ColumnViews>> large_rows_in_place(
    const RList& columns, const std::vector<DType>& wanted, int64_t batch_size) {
  std::vector<std::shared_ptr<const ColumnViews>> all(static_cast<size_t>(columns.size()));
  size_t bytes = 0;
  for (R_xlen_t i = 0; i < columns.size(); ++i) bytes += numeric_bytes(columns[i]);
  if (bytes < kMinBytes) return all;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = rows_in_place(columns[static_cast<R_xlen_t>(i)], wanted[i]);
    if (all[i] && all[i]->rows() / kMinBatches < batch_size) all[i] = nullptr;
  }
  return all;
}

}  // namespace r
}  // namespace runhooks
