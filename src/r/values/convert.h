// Helpers to convert R vectors to tensors: raw bytes, integers and declared data types.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// True for a raw vector, which stands for one string, and for a list of raw vectors, which stands
// for several. Unlike R strings, raw vectors can contain any bytes.
bool is_bytes(SEXP x);
// Throws unless `x` is an integer within the range of `dtype`.
int64_t integer_in_range(double x, DType dtype);
// Returns the type that the user passed to the R function np_array(), or kInvalid.
DType declared_dtype(SEXP x);

}  // namespace r
}  // namespace runhooks
