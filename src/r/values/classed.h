// Classes of R vectors whose stored numbers are not their values.
#pragma once

#include <string>

#include "r/values/values.h"

namespace runhooks {
namespace r {

// For a vector whose numbers are codes or have a unit (a factor, date, time, difference of times or
// vector with units), its first class; otherwise "".
std::string coded_number_class(SEXP x);
// Throws if coded_number_class() is not "". The message tells the user to convert the vector.
void check_plain_numbers(SEXP x);
// integer64 stores integers in the bits of doubles.
bool holds_integer64(SEXP x);
// The element of an integer64 vector; NA throws.
int64_t integer64_at(SEXP x, R_xlen_t i);

}  // namespace r
}  // namespace runhooks
