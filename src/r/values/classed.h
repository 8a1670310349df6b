// Classes of R vectors whose stored numbers are not their values.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// True for integer64, which stores integers in the bits of doubles. Throws for factors, dates, times
// and units, whose conversion the user must choose.
bool is_integer64(SEXP x);
// The element of an integer64 vector; NA throws.
int64_t integer64_at(SEXP x, R_xlen_t i);

}  // namespace r
}  // namespace runhooks
