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

// Smaller data are copied, because copying them is cheap and makes row access faster.
constexpr size_t kMinBytes = size_t{32} << 20;
// With fewer batches the data are copied: a batch is so large that a view saves little memory.
constexpr int64_t kMinBatches = 8;

size_t numeric_bytes(SEXP x) {
  const auto n = static_cast<size_t>(Rf_xlength(x));
  if (TYPEOF(x) == REALSXP) return n * sizeof(double);
  if (TYPEOF(x) == INTSXP) return n * sizeof(int);
  size_t bytes = 0;
  for (size_t i = 0; TYPEOF(x) == VECSXP && i < n; ++i) {
    SEXP element = VECTOR_ELT(x, static_cast<R_xlen_t>(i));
    if (TYPEOF(element) != VECSXP) bytes += numeric_bytes(element);
  }
  return bytes;
}

struct NumericColumns {
  std::vector<ColumnView> columns;
  int64_t rows = -1;
  bool has_doubles = false;
};

// Adds the columns of a vector or matrix. Returns false for unsupported types and NA_integer_, so
// that the data are copied; the copying code reports errors.
bool add_columns(SEXP x, NumericColumns& result) {
  SEXP dim = Rf_getAttrib(x, R_DimSymbol);
  if (dim != R_NilValue && Rf_xlength(dim) != 2) return false;
  const int64_t rows = dim == R_NilValue ? Rf_xlength(x) : INTEGER(dim)[0];
  const int64_t width = dim == R_NilValue ? 1 : INTEGER(dim)[1];
  if (result.rows >= 0 && rows != result.rows) return false;
  result.rows = rows;
  if (TYPEOF(x) == REALSXP) {
    const double* values = REAL_RO(x);
    for (int64_t c = 0; c < width; ++c) result.columns.push_back({values + c * rows, nullptr});
    result.has_doubles = true;
    return true;
  }
  if (TYPEOF(x) != INTSXP) return false;
  const int* values = INTEGER_RO(x);
  if (std::find(values, values + Rf_xlength(x), NA_INTEGER) != values + Rf_xlength(x)) return false;
  for (int64_t c = 0; c < width; ++c) result.columns.push_back({nullptr, values + c * rows});
  return true;
}

std::shared_ptr<const ColumnViews> rows_in_place(SEXP x, DType requested) {
  if (holds_integer64(x)) return nullptr;
  NumericColumns numeric;
  const bool is_list = TYPEOF(x) == VECSXP;
  for (R_xlen_t i = 0; i < (is_list ? Rf_xlength(x) : 1); ++i) {
    if (!add_columns(is_list ? VECTOR_ELT(x, i) : x, numeric)) return nullptr;
  }
  const DType default_dtype = numeric.has_doubles ? DType::kFloat64 : DType::kInt32;
  const DType dtype = requested == DType::kInvalid ? default_dtype : requested;
  const bool is_supported = dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
                            (dtype == DType::kInt32 && !numeric.has_doubles);
  if (!is_supported || numeric.rows < 1) return nullptr;
  const bool is_matrix = is_list || Rf_getAttrib(x, R_DimSymbol) != R_NilValue;
  const auto width = static_cast<int64_t>(numeric.columns.size());
  const Shape shape = is_matrix ? Shape{numeric.rows, width} : Shape{numeric.rows};
  // Preserving `x` marks it as shared, so that R copies it before modifying it.
  const OwnedObjects::Scope no_owner(nullptr);
  return std::make_shared<ColumnViews>(dtype, shape, std::move(numeric.columns),
                                       std::make_shared<const Preserved>(x));
}

}  // namespace

std::vector<std::shared_ptr<const ColumnViews>> large_rows_in_place(
    const RList& columns, const std::vector<DType>& dtypes, int64_t batch_size) {
  std::vector<std::shared_ptr<const ColumnViews>> views(static_cast<size_t>(columns.size()));
  size_t bytes = 0;
  for (R_xlen_t i = 0; i < columns.size(); ++i) bytes += numeric_bytes(columns[i]);
  if (bytes < kMinBytes) return views;
  for (size_t i = 0; i < views.size(); ++i) {
    views[i] = rows_in_place(columns[static_cast<R_xlen_t>(i)], dtypes[i]);
    if (views[i] && views[i]->rows() / kMinBatches < batch_size) views[i] = nullptr;
  }
  return views;
}

}  // namespace r
}  // namespace runhooks
