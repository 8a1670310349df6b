// Predictors: feed plain data to a cached graph, without input function, loop or model directory.
// For all other data, including invalid data, they return NULL; predict() then uses the regular
// path.
#include <algorithm>
#include <cmath>

#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

struct Predictor {
  std::shared_ptr<ModelGraphCache> graphs;
  std::string folder;
  uint64_t checkpoint;
  std::vector<std::string> features, keys;
  std::vector<DType> dtypes;
  Preserved columns, levels;  // lists with an element for each feature
  double max_rows;
};
const HandleKind kPredictor("runhooks_predictor");

bool are_logicals(SEXP x) {
  if (TYPEOF(x) != LGLSXP) return false;
  const int* const end = LOGICAL(x) + Rf_xlength(x);
  return std::find(static_cast<const int*>(LOGICAL(x)), end, NA_LOGICAL) == end;
}

bool are_numbers(SEXP x, DType dtype) {
  // Doubles of at least this size round to infinity in float32.
  static const double kBeyondFloat32 = std::ldexp(1.0, 128) - std::ldexp(1.0, 103);
  if (Rf_isFactor(x)) return false;
  const R_xlen_t n = Rf_xlength(x);
  if (TYPEOF(x) == INTSXP) {
    const int* const begin = INTEGER(x);
    return std::find(begin, begin + n, NA_INTEGER) == begin + n;
  }
  if (TYPEOF(x) != REALSXP) return false;
  const bool is_whole = dtype == DType::kInt32;
  const double limit = dtype == DType::kFloat32 ? kBeyondFloat32 : is_whole ? 0x1p31 : HUGE_VAL;
  return std::all_of(REAL(x), REAL(x) + n, [=](double value) {
    return std::fabs(value) < limit && (!is_whole || value == std::trunc(value));  // not NaN
  });
}

// Whether all strings are levels; accepts all strings if `levels` is NULL. Compares addresses,
// because R has one object per string.
bool are_strings(SEXP strings, SEXP levels) {
  for (R_xlen_t i = 0; i < Rf_xlength(strings); ++i) {
    SEXP element = STRING_ELT(strings, i);
    if (element == NA_STRING || element == R_BlankString) return false;
    bool is_level = levels == R_NilValue;
    for (R_xlen_t k = 0; !is_level && k < Rf_xlength(levels); ++k) {
      is_level = STRING_ELT(levels, k) == element;
    }
    if (!is_level) return false;
  }
  return true;
}

// Converts a column. Returns false if it has dimensions, a class other than factor, or missing,
// unknown or too large values.
bool as_tensor(SEXP x, DType dtype, SEXP levels, Tensor* to) {
  if (Rf_isObject(x) && !Rf_isFactor(x)) return false;
  if (Rf_getAttrib(x, R_DimSymbol) != R_NilValue) return false;
  const bool has_levels = Rf_isFactor(x) && TYPEOF(Rf_getAttrib(x, R_LevelsSymbol)) == STRSXP;
  const bool is_text = dtype == DType::kString;
  Rcpp::Shield<SEXP> values(is_text && has_levels ? Rf_asCharacterFactor(x) : x);
  const bool fits_dtype = is_text ? TYPEOF(values) == STRSXP && are_strings(values, levels)
                          : dtype == DType::kBool ? are_logicals(x)
                                                  : are_numbers(x, dtype);
  if (fits_dtype) *to = rows_from_r(values, dtype);
  return fits_dtype;
}

// Returns the element with this name; NULL if the name is missing or duplicated.
SEXP column_named(SEXP data, SEXP names, SEXP name) {
  SEXP column = nullptr;
  for (R_xlen_t i = 0; i < Rf_xlength(data); ++i) {
    if (STRING_ELT(names, i) != name) continue;
    if (column) return nullptr;
    column = VECTOR_ELT(data, i);
  }
  return column;
}

}  // namespace

// Makes a predictor, or returns NULL if the model caches no graphs. `checkpoint` is the ID that
// cpp_estimator_predict() returned. `columns`, `dtypes` and `levels` (NULL: any) describe the
// `features`, which are sorted by name.
// [[Rcpp::export(rng = false)]]
SEXP cpp_predictor_make(SEXP model,
                        Text folder,
                        double checkpoint,
                        Texts features,
                        SEXP columns,
                        Texts dtypes,
                        SEXP levels,
                        Texts keys,
                        double max_rows) {
  return guarded_entry([&]() -> SEXP {
    const auto created = std::make_shared<Predictor>();
    created->graphs = graph_cache_of(model);
    if (!created->graphs) return R_NilValue;
    const RList level_list(levels, "the levels of features");
    const auto n = static_cast<R_xlen_t>(features.size());
    bool is_complete =
        TYPEOF(columns) == STRSXP && Rf_xlength(columns) == n && level_list.size() == n;
    for (R_xlen_t i = 0; is_complete && i < n; ++i) {
      is_complete = level_list[i] == R_NilValue || TYPEOF(level_list[i]) == STRSXP;
    }
    if (!is_complete || dtypes.size() != features.size()) {
      invalid_argument("Each feature needs a column, a type and levels or NULL.");
    }
    for (const std::string& name : dtypes) created->dtypes.push_back(dtype_from_name(name));
    created->folder = folder;
    created->checkpoint = static_cast<uint64_t>(checkpoint);
    created->features = features;
    created->keys = keys;
    created->columns.reset(columns);
    created->levels.reset(levels);
    created->max_rows = max_rows;
    return make_handle(created, kPredictor);
  });
}

// Returns predictions for the rows of `data` as a named list of arrays, or NULL if predict() has to
// run a session loop.
// [[Rcpp::export(rng = false)]]
SEXP cpp_predictor_run(SEXP predictor, SEXP data) {
  return guarded_entry([&]() -> SEXP {
    const auto core_predictor = from_handle<Predictor>(predictor, kPredictor);
    SEXP names = Rf_getAttrib(data, R_NamesSymbol);
    if (TYPEOF(data) != VECSXP || TYPEOF(names) != STRSXP) return R_NilValue;
    Named<Tensor> rows;
    for (size_t k = 0; k < core_predictor->features.size(); ++k) {
      const auto i = static_cast<R_xlen_t>(k);
      SEXP x = column_named(data, names, STRING_ELT(core_predictor->columns.get(), i));
      if (!x) return R_NilValue;
      const R_xlen_t length = Rf_xlength(x);
      const bool fits = length > 0 && static_cast<double>(length) <= core_predictor->max_rows &&
                        (rows.empty() || rows[0].second.num_elements() == length);
      Tensor tensor;
      if (!fits || !as_tensor(x, core_predictor->dtypes[k],
                              VECTOR_ELT(core_predictor->levels.get(), i), &tensor)) {
        return R_NilValue;
      }
      rows.emplace_back(core_predictor->features[k], std::move(tensor));
    }
    Named<Tensor> predictions;
    if (!core_predictor->graphs->predict(core_predictor->folder, core_predictor->checkpoint, rows,
                                         core_predictor->keys, &predictions)) {
      return R_NilValue;
    }
    return named_values_to_r(predictions, [](const Tensor& values) { return tensor_to_r(values); });
  });
}
