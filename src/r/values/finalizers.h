// Finalizers that may allocate R objects, unlike those of R_RegisterCFinalizerEx().
#pragma once

#include <functional>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// Calls `callback` once after R has collected `object`, an environment or an external pointer.
// Errors of `callback` are dropped. R can lose finalizers and weak references that a finalizer
// creates, if it runs the finalizer of an older object next. Each finalizer therefore preserves a
// younger weak reference, which prevents the loss.
void register_finalizer(SEXP object, std::function<void(SEXP object)> callback);

// Returns the key of a weak reference, or R_NilValue. Runs pending finalizers first: between
// finding a key unreachable and running its finalizer, R would still return the key.
SEXP key_of(SEXP weak_reference);

// Calls `callback` at the next garbage collection.
void on_next_gc(std::function<void()> callback);

}  // namespace r
}  // namespace runhooks
