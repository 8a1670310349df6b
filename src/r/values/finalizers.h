// What is done once R has collected an object, and may itself make objects.
#pragma once

#include <functional>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// Calls `then`, once for an object, when R has let go of `object`, an environment or an external
// pointer; what `then` throws ends there. R's own
// R_RegisterCFinalizerEx() is for what makes no object: R forgets the finalizers and weak references
// that a finalizer makes where that of an older object runs after it, unless something newer is
// still there. Here something is.
void register_finalizer(SEXP object, std::function<void(SEXP object)> then);

// The object that a weak reference points to, or NULL of R. R sees first that nobody needs an object
// and calls the finalizers later: in between the reference still gives it, and who then took it would
// have one that is finalized under his hands. Here the finalizers come first.
SEXP key_of(SEXP weak_reference);

// When R collects next, whatever that lets go of.
void on_next_gc(std::function<void()> then);

}  // namespace r
}  // namespace runhooks
