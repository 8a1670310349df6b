// Fingerprints of R's data columns, which identify the data of a saved position.
#include <string_view>

#include "base/fingerprint.h"
#include "r/data/input.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

uint64_t fingerprint_of_r(SEXP x, int depth);

uint64_t fingerprint_of_bytes(const void* data, size_t size) {
  return fingerprint64(std::string_view(static_cast<const char*>(data), size));
}

// Returns a fingerprint of the values. Ignores lists that are nested more deeply than a limit,
// because they cannot be columns.
uint64_t fingerprint_of_values(SEXP x, int depth = 0) {
  const auto n = static_cast<size_t>(Rf_xlength(x));
  if (n == 0) return 0;
  switch (TYPEOF(x)) {
    case REALSXP:
      return fingerprint_of_bytes(REAL(x), n * sizeof(double));
    case INTSXP:
      return fingerprint_of_bytes(INTEGER(x), n * sizeof(int));
    case LGLSXP:
      return fingerprint_of_bytes(LOGICAL(x), n * sizeof(int));
    default:
      break;
  }
  uint64_t fingerprint = n;
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (TYPEOF(x) == STRSXP) {
      SEXP element = STRING_ELT(x, i);
      const uint64_t element_fingerprint =
          element == NA_STRING ? 0 : fingerprint64(utf8_or_bytes_of(element));
      fingerprint = fingerprint_cat64(fingerprint, element_fingerprint);
    } else if (TYPEOF(x) == VECSXP && depth < 8) {
      fingerprint = fingerprint_cat64(fingerprint, fingerprint_of_r(VECTOR_ELT(x, i), depth + 1));
    }
  }
  return fingerprint;
}

// Returns a fingerprint of values, factor levels and dimensions. Ignores other attributes.
uint64_t fingerprint_of_r(SEXP x, int depth) {
  uint64_t fingerprint = fingerprint_of_values(x, depth);
  for (SEXP name : {R_LevelsSymbol, R_DimSymbol}) {
    SEXP attribute = Rf_getAttrib(x, name);
    if (attribute != R_NilValue)
      fingerprint = fingerprint_cat64(fingerprint, fingerprint_of_values(attribute));
  }
  for (const char* slot : {"x", "i", "p"}) {  // a sparse matrix
    if (Rf_isS4(x) && R_has_slot(x, Rf_install(slot))) {
      fingerprint =
          fingerprint_cat64(fingerprint, fingerprint_of_values(R_do_slot(x, Rf_install(slot))));
    }
  }
  return fingerprint;
}

}  // namespace

namespace runhooks {
namespace r {

std::string fingerprint_of_columns(SEXP columns) {
  const RList list(columns, "the columns of data");
  uint64_t fingerprint = 0;
  for (R_xlen_t i = 0; i < list.size(); ++i) {
    if (list.has_names()) fingerprint = fingerprint_cat64(fingerprint, fingerprint64(list.name(i)));
    fingerprint = fingerprint_cat64(fingerprint, fingerprint_of_r(list[i], 0));
  }
  return str_cat(static_cast<unsigned long>(fingerprint));
}

}  // namespace r
}  // namespace runhooks
