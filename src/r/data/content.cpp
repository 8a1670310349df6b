// Fingerprints of R's data columns, which identify the data of a saved position.
#include <string_view>

#include "base/fingerprint.h"
#include "r/data/input.h"
#include "r/values/values.h"

using namespace runhooks;
using namespace runhooks::r;

namespace {

uint64_t content_of_r(SEXP x, int depth);

uint64_t bytes_of(const void* data, size_t size) {
  return fingerprint64(std::string_view(static_cast<const char*>(data), size));
}

// Ignores lists below the depth limit: deeply nested lists are not columns.
uint64_t content_of_values(SEXP x, int depth = 0) {
  const auto n = static_cast<size_t>(Rf_xlength(x));
  if (n == 0) return 0;
  switch (TYPEOF(x)) {
    case REALSXP: return bytes_of(REAL(x), n * sizeof(double));
    case INTSXP: return bytes_of(INTEGER(x), n * sizeof(int));
    case LGLSXP: return bytes_of(LOGICAL(x), n * sizeof(int));
    default: break;
  }
  uint64_t all = n;
  for (R_xlen_t i = 0; i < Rf_xlength(x); ++i) {
    if (TYPEOF(x) == STRSXP) {
      SEXP element = STRING_ELT(x, i);
      const uint64_t part = element == NA_STRING ? 0 : fingerprint64(utf8_or_bytes_of(element));
      all = fingerprint_cat64(all, part);
    } else if (TYPEOF(x) == VECSXP && depth < 8) {
      all = fingerprint_cat64(all, content_of_r(VECTOR_ELT(x, i), depth + 1));
    }
  }
  return all;
}

// Includes factor levels and dimensions; ignores other attributes.
uint64_t content_of_r(SEXP x, int depth) {
  uint64_t all = content_of_values(x, depth);
  for (SEXP name : {R_LevelsSymbol, R_DimSymbol}) {
    SEXP more = Rf_getAttrib(x, name);
    if (more != R_NilValue) all = fingerprint_cat64(all, content_of_values(more));
  }
  for (const char* slot : {"x", "i", "p"}) {  // a sparse matrix
    if (Rf_isS4(x) && R_has_slot(x, Rf_install(slot))) {
      all = fingerprint_cat64(all, content_of_values(R_do_slot(x, Rf_install(slot))));
    }
  }
  return all;
}

}  // namespace

namespace runhooks {
namespace r {

std::string content_of_columns(SEXP columns) {
  const RList given(columns, "the columns of data");
  uint64_t all = 0;
  for (R_xlen_t i = 0; i < given.size(); ++i) {
    if (given.has_names()) all = fingerprint_cat64(all, fingerprint64(given.name(i)));
    all = fingerprint_cat64(all, content_of_r(given[i], 0));
  }
  return str_cat(static_cast<unsigned long>(all));
}

}  // namespace r
}  // namespace runhooks
