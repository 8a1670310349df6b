// Classes of R vectors whose stored numbers are not their values.
#pragma once

#include <string>

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Returns the first class of a vector whose numbers are codes or have a unit: a factor, date, time,
// difference of times or vector with units. Returns "" for other vectors.
std::string coded_number_class(SEXP x);
// Throws if coded_number_class() is not "". The message tells the user to convert the vector.
void check_plain_numbers(SEXP x);
// Whether the class is integer64 (package bit64), which stores integers in the bits of doubles.
bool holds_integer64(SEXP x);
// Returns an element of an integer64 vector. Throws for NA.
int64_t integer64_at(SEXP x, R_xlen_t i);

}  // namespace r
}  // namespace runhooks
