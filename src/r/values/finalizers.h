// Finalizers that may allocate R objects, unlike those of R_RegisterCFinalizerEx().
#pragma once

#include <functional>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// Calls `then` once after R has collected `object`, an environment or an external pointer. Errors
// of `then` are dropped. R can lose finalizers and weak references that a finalizer creates if it
// then runs the finalizer of an older object. A younger weak reference, kept here, prevents this.
void register_finalizer(SEXP object, std::function<void(SEXP object)> then);

// The key of a weak reference, or R_NilValue. R runs finalizers some time after it has found a key
// unreachable; until then the reference still returns it. So this runs pending finalizers first.
SEXP key_of(SEXP weak_reference);

// Calls `then` at the next garbage collection.
void on_next_gc(std::function<void()> then);

}  // namespace r
}  // namespace runhooks
