// Helpers to convert R vectors to tensors: raw bytes, integers and declared data types.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Raw vectors hold bytes that R strings cannot: one is a string, a list of them is several.
bool is_bytes(SEXP x);
// Throws unless `x` is an integer within the range of `dtype`.
int64_t whole(double x, DType dtype);
// The type given to np_array(), or kInvalid.
DType own_dtype(SEXP x);

}  // namespace r
}  // namespace runhooks
