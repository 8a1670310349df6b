// What vectors and single arguments of R are asked on their way into the core.
#pragma once

#include "r/values/values.h"

namespace runhooks {
namespace r {

// Bytes, which R's strings cannot hold: a raw vector is one string, a list of them are several.
bool is_bytes(SEXP x);
// The integer that `x` is; refused where it is none of this type.
int64_t whole(double x, DType dtype);
// The type that np_array() was asked for; kInvalid where none was.
DType own_dtype(SEXP x);

}  // namespace r
}  // namespace runhooks
