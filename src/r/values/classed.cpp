#include "r/values/classed.h"

#include <cstdint>
#include <cstring>

namespace runhooks {
namespace r {

namespace {

[[noreturn]] void throw_class(const std::string& name, const char* advice) {
  throw Error(Code::kInvalidArgument,
              str_cat("A vector of class ", name, " cannot become a tensor or a number."), {advice});
}

}  // namespace

bool is_integer64(SEXP x) {
  if (!Rf_isObject(x)) return false;
  if (Rf_inherits(x, "factor")) {
    throw_class("factor", "Use `as.integer(x) - 1L` for codes from 0, or `as.character(x)`.");
  }
  for (const char* name : {"Date", "POSIXt", "difftime", "units", "yearmon", "yearqtr", "nanotime",
                           "nanoduration", "Period", "Interval"}) {
    if (!Rf_inherits(x, name)) continue;
    throw_class(utf8_of(STRING_ELT(Rf_getAttrib(x, R_ClassSymbol), 0)),
                "Use `as.numeric(x)`, in the unit of your choice.");
  }
  return TYPEOF(x) == REALSXP && Rf_inherits(x, "integer64");
}

int64_t integer64_at(SEXP x, R_xlen_t i) {
  int64_t value = 0;
  std::memcpy(&value, REAL(x) + i, sizeof value);
  if (value == INT64_MIN) {
    invalid_argument("NA cannot become a tensor's element (element ", i + 1, ").");
  }
  return value;
}

}  // namespace r
}  // namespace runhooks
