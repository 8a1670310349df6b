// Checked access to R objects: R's own accessors would longjmp over C++ frames on a wrong type.
#include <cmath>

#include "r/values/classed.h"
#include "r/values/guarded_entry.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

std::string kind_in_words(SEXP x) {
  if (x == R_NilValue) return "NULL";
  if (Rf_inherits(x, "data.frame")) return "a data frame";
  if (is_handle(x, kTensor)) return "a tensor";
  if (Rf_isObject(x)) {
    SEXP classes = Rf_getAttrib(x, R_ClassSymbol);
    const bool has_text = TYPEOF(classes) == STRSXP && Rf_xlength(classes) > 0;
    if (has_text) return str_cat("an object of class `", utf8_of(STRING_ELT(classes, 0)), "`");
  }
  if (Rf_isFunction(x)) return "a function";
  const bool is_one = Rf_xlength(x) == 1;
  switch (TYPEOF(x)) {
    case STRSXP:
      return is_one ? "a string" : "a character vector";
    case REALSXP:
    case INTSXP:
      return is_one ? "a number" : "a numeric vector";
    case LGLSXP:
      return is_one ? "a logical" : "a logical vector";
    case VECSXP:
      return "a list";
    case ENVSXP:
      return "an environment";
    case EXTPTRSXP:
      return "an external pointer";
    default:
      return str_cat("an object of type ", Rf_type2char(TYPEOF(x)));
  }
}

RList::RList(SEXP x, const char* label) : list_(x), label_(label) {
  if (x != R_NilValue && TYPEOF(x) != VECSXP) {
    invalid_argument("A list is expected for ", label, ", not ", kind_in_words(x), ".");
  }
  names_ = Rf_getAttrib(x, R_NamesSymbol);
}

SEXP RList::operator[](R_xlen_t i) const {
  if (i >= size()) {
    invalid_argument("A list of ", static_cast<int64_t>(i) + 1, " elements is expected for ",
                     label_, ", not one of ", static_cast<int64_t>(size()), ".");
  }
  return VECTOR_ELT(list_, i);
}

std::string RList::name(R_xlen_t i) const {
  if (names_ == R_NilValue) invalid_argument("The elements of ", label_, " need names.");
  return utf8_of(STRING_ELT(names_, i));
}

SEXP RList::find(const char* name) const {
  for (R_xlen_t i = 0; i < size() && names_ != R_NilValue; ++i) {
    if (utf8_or_bytes_of(STRING_ELT(names_, i)) == name) return VECTOR_ELT(list_, i);
  }
  return R_NilValue;
}

SEXP frame_variable(SEXP environment, SEXP symbol) {
#if R_VERSION >= R_Version(4, 5, 0)
  return R_getVarEx(symbol, environment, FALSE, R_NilValue);
#else
  SEXP value = Rf_findVarInFrame(environment, symbol);  // lint: allow non-api
  return value == R_UnboundValue ? R_NilValue : value;
#endif
}

double number_from_r(SEXP x, const char* label) {
  const bool is_single = Rf_xlength(x) == 1;
  check_plain_numbers(x);
  if (is_single && holds_integer64(x)) return static_cast<double>(integer64_at(x, 0));
  if (is_single && TYPEOF(x) == REALSXP) return REAL(x)[0];
  if (is_single && TYPEOF(x) == INTSXP && INTEGER(x)[0] != NA_INTEGER) return INTEGER(x)[0];
  if (is_single && TYPEOF(x) == LGLSXP && LOGICAL(x)[0] != NA_LOGICAL) return LOGICAL(x)[0];
  invalid_argument("A single number is expected for ", label, ", not ", kind_in_words(x), ".");
}

int64_t whole_from_r(double x, const char* label) {
  constexpr double kLimit = 9223372036854775808.0;
  if (!(x >= -kLimit && x < kLimit)) {
    invalid_argument("A whole number is expected for ", label, ", not ", x, ".");
  }
  return static_cast<int64_t>(x);
}

SEXP function_from_r(SEXP x, const char* label) {
  if (Rf_isFunction(x)) return x;
  invalid_argument("A function is expected for ", label, ", not ", kind_in_words(x), ".");
}

std::shared_ptr<Args> spec_from_r(SEXP spec, const char* label) {
  const Value value = value_from_r(spec);
  const auto* args = value.get_if<std::shared_ptr<Args>>();
  if (!args) invalid_argument("A named list is expected for ", label, ".");
  return *args;
}

Text::Text(SEXP x) : std::string(guarded_entry([x] { return string_from_r(x); })) {}

Texts::Texts(SEXP x)
    : std::vector<std::string>(guarded_entry([x] {
        if (TYPEOF(x) != STRSXP) {
          invalid_argument("A character vector is expected, not ", kind_in_words(x), ".");
        }
        std::vector<std::string> texts;
        for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
          if (STRING_ELT(x, i) == NA_STRING) invalid_argument("A string is missing (NA).");
          texts.emplace_back(utf8_of(STRING_ELT(x, i)));
        }
        return texts;
      })) {}

}  // namespace r
}  // namespace runhooks
