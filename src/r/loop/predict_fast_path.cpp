// Fast path of predict(): feeds plain data to a cached graph without input function, loop or model
// directory. All other cases, including errors, return NULL and take the regular path.
#include <cmath>

#include "r/loop/loop.h"
#include "r/values/guarded_entry.h"
#include "r/values/handles.h"
#include "r/values/named_values.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

// Doubles from here on round to infinity in float32.
const double kBeyondFloat32 = std::ldexp(1.0, 128) - std::ldexp(1.0, 103);

// A vector without dimensions or class, or a factor.
bool is_plain(SEXP x) {
  return (!Rf_isObject(x) || Rf_isFactor(x)) && Rf_getAttrib(x, R_DimSymbol) == R_NilValue;
}

// Returns false for missing, infinite or too large values.
bool as_floats(SEXP x, DType dtype, Tensor* to) {
  const R_xlen_t n = Rf_xlength(x);
  if (Rf_isFactor(x) || (TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP)) return false;
  const double limit = dtype == DType::kFloat32 ? kBeyondFloat32 : HUGE_VAL;
  for (R_xlen_t i = 0; i < n; ++i) {
    if (TYPEOF(x) == INTSXP) {
      if (INTEGER(x)[i] == NA_INTEGER) return false;
      continue;
    }
    if (!(std::fabs(REAL(x)[i]) < limit)) return false;  // NaN, too
  }
  *to = Tensor(dtype, Shape{n});
  for (R_xlen_t i = 0; i < n; ++i) {
    const double value = TYPEOF(x) == INTSXP ? INTEGER(x)[i] : REAL(x)[i];
    if (dtype == DType::kFloat32) {
      to->data<float>()[i] = static_cast<float>(value);
    } else {
      to->data<double>()[i] = value;
    }
  }
  return true;
}

// Accepts doubles that are whole numbers.
bool as_integers(SEXP x, Tensor* to) {
  const R_xlen_t n = Rf_xlength(x);
  if (Rf_isFactor(x) || (TYPEOF(x) != REALSXP && TYPEOF(x) != INTSXP)) return false;
  *to = Tensor(DType::kInt32, Shape{n});
  for (R_xlen_t i = 0; i < n; ++i) {
    if (TYPEOF(x) == INTSXP) {
      if (INTEGER(x)[i] == NA_INTEGER) return false;
      to->data<int32_t>()[i] = INTEGER(x)[i];
      continue;
    }
    const double value = REAL(x)[i];
    if (!(std::fabs(value) <= 2147483647.0) || value != std::trunc(value)) return false;
    to->data<int32_t>()[i] = static_cast<int32_t>(value);
  }
  return true;
}

// Compares addresses, since R caches each string once. Any string is accepted if `levels` is NULL.
bool as_strings(SEXP x, SEXP levels, Tensor* to) {
  if (!Rf_isFactor(x) && TYPEOF(x) != STRSXP) return false;
  if (Rf_isFactor(x) && TYPEOF(Rf_getAttrib(x, R_LevelsSymbol)) != STRSXP) return false;
  Rcpp::Shield<SEXP> strings(Rf_isFactor(x) ? Rf_asCharacterFactor(x) : x);
  for (R_xlen_t i = 0; i < Rf_xlength(strings); ++i) {
    SEXP element = STRING_ELT(strings, i);
    if (element == NA_STRING || element == R_BlankString) return false;
    bool is_known = levels == R_NilValue;
    for (R_xlen_t k = 0; !is_known && k < Rf_xlength(levels); ++k) {
      is_known = STRING_ELT(levels, k) == element;
    }
    if (!is_known) return false;
  }
  *to = rows_from_r(strings);
  return true;
}

bool as_logicals(SEXP x, Tensor* to) {
  if (TYPEOF(x) != LGLSXP) return false;
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (LOGICAL(x)[i] == NA_LOGICAL) return false;
  }
  *to = rows_from_r(x);
  return true;
}

// The element with this name; NULL if the name is missing or duplicated.
SEXP column_called(SEXP data, SEXP names, SEXP name) {
  SEXP found = nullptr;
  for (R_xlen_t i = 0; i < Rf_xlength(data); ++i) {
    if (STRING_ELT(names, i) != name) continue;
    if (found) return nullptr;
    found = VECTOR_ELT(data, i);
  }
  return found;
}

bool as_tensor(SEXP x, const std::string& dtype, SEXP levels, Tensor* to) {
  if (!is_plain(x)) return false;
  if (dtype == "float32") return as_floats(x, DType::kFloat32, to);
  if (dtype == "float64") return as_floats(x, DType::kFloat64, to);
  if (dtype == "int32") return as_integers(x, to);
  if (dtype == "bool") return as_logicals(x, to);
  return dtype == "string" && as_strings(x, levels, to);
}

}  // namespace

// Predictions of `keys` for the rows of `data` as a named list of arrays, or NULL if the regular
// path is needed. `checkpoint` is the attribute of cpp_estimator_predict(). `columns`, `dtypes` and
// `levels` describe the `features`, which are sorted by name.
// [[Rcpp::export(rng = false)]]
SEXP cpp_predict_cached(SEXP model,
                        Text folder,
                        double checkpoint,
                        Texts features,
                        SEXP columns,
                        Texts dtypes,
                        SEXP levels,
                        Texts keys,
                        SEXP data,
                        double most_rows) {
  return guarded_entry([&]() -> SEXP {
    const auto kept = graph_cache_of(model);
    SEXP names = Rf_getAttrib(data, R_NamesSymbol);
    const bool is_list = TYPEOF(data) == VECSXP && TYPEOF(names) == STRSXP;
    if (!kept || !is_list || TYPEOF(columns) != STRSXP) return R_NilValue;
    const RList known(levels, "the levels of features");
    const auto n = static_cast<R_xlen_t>(features.size());
    const bool fit_together = dtypes.size() == features.size() && known.size() == n;
    if (!fit_together || Rf_xlength(columns) != n) {
      invalid_argument("Each feature needs a column, a type and levels or NULL.");
    }
    Named<Tensor> rows;
    for (R_xlen_t i = 0; i < n; ++i) {
      const auto k = static_cast<size_t>(i);
      SEXP x = column_called(data, names, STRING_ELT(columns, i));
      SEXP known_levels = known[i];
      if (!x || (known_levels != R_NilValue && TYPEOF(known_levels) != STRSXP)) return R_NilValue;
      const R_xlen_t length = Rf_xlength(x);
      const bool fits = length > 0 && static_cast<double>(length) <= most_rows &&
                        (rows.empty() || rows[0].second.num_elements() == length);
      Tensor tensor;
      if (!fits || !as_tensor(x, dtypes[k], known_levels, &tensor)) return R_NilValue;
      rows.emplace_back(features[k], std::move(tensor));
    }
    Named<Tensor> predictions;
    if (!kept->predict(folder, static_cast<uint64_t>(checkpoint), rows, keys, &predictions)) {
      return R_NilValue;
    }
    return named_values_to_r(predictions, [](const Tensor& values) { return tensor_to_r(values); });
  });
}
