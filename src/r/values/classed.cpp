#include "r/values/classed.h"

#include <cstdint>
#include <cstring>

#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

std::string coded_number_class(SEXP x) {
  if (!Rf_isObject(x)) return "";
  for (const char* name : {"factor", "Date", "POSIXt", "difftime", "units", "yearmon", "yearqtr",
                           "nanotime", "nanoduration", "Period", "Interval"}) {
    if (Rf_inherits(x, name)) return utf8_of(STRING_ELT(Rf_getAttrib(x, R_ClassSymbol), 0));
  }
  return "";
}

void check_plain_numbers(SEXP x) {
  const std::string name = coded_number_class(x);
  if (name.empty()) return;
  throw Error(
      Code::kInvalidArgument,
      str_cat("A vector of class ", name, " cannot become a tensor or a number."),
      {Rf_inherits(x, "factor") ? "Use `as.integer(x) - 1L` for codes from 0, or `as.character(x)`."
                                : "Use `as.numeric(x)`, in the unit of your choice."});
}

bool holds_integer64(SEXP x) {
  return TYPEOF(x) == REALSXP && Rf_isObject(x) && Rf_inherits(x, "integer64");
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

// Whether the class of `x` encodes its numbers, so that plain arithmetic with them would be wrong.
// [[Rcpp::export(rng = false)]]
bool cpp_has_encoded_numbers(SEXP x) {
  using namespace runhooks::r;
  return guarded_entry([&] { return holds_integer64(x) || !coded_number_class(x).empty(); });
}
