// What lives here: what is done once R has collected an object, and may itself make objects.
// Who may use it: src/r/ only.
// What it must not know: what is done.
#pragma once

#include <Rcpp/Lightest>

#include <functional>

namespace runhooks {
namespace r {

// Calls `then`, once for an object, when R has let go of `object`, an environment or an external
// pointer; what `then` throws ends there. R's own
// R_RegisterCFinalizerEx() is for what makes no object: R forgets the finalizers and weak references
// that a finalizer makes where that of an older object runs after it, unless something newer is
// still there. Here something is.
void when_collected(SEXP object, std::function<void(SEXP object)> then);

// When R collects next, whatever that lets go of.
void at_next_collection(std::function<void()> then);

}  // namespace r
}  // namespace runhooks
