// What is done once R has collected an object.
#include "r/values/finalizers.h"

#include <map>
#include <utility>

#include "r/values/guarded_entry.h"
#include "r/values/owned_objects.h"

namespace runhooks {
namespace r {

namespace {

struct Awaited {
  std::function<void(SEXP)> then;
  Preserved newer;  // an object with a weak reference, younger than the finalizer
};

std::map<SEXP, Awaited>& awaited() {
  static auto* all = new std::map<SEXP, Awaited>;
  return *all;
}

SEXP new_sentinel() { return R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue); }

// Nobody is there to hear of an error, or to be interrupted: R collects in the midst of anything.
void collected(SEXP object) {
  const auto found = awaited().find(object);
  const Awaited mine = std::move(found->second);
  awaited().erase(found);
  try {
    mine.then(object);
  } catch (...) {
  }
}

}  // namespace

void register_finalizer(SEXP object, std::function<void(SEXP)> then) {
  const OwnedObjects::Scope apart(nullptr);
  R_RegisterCFinalizerEx(object, collected, FALSE);
  Rcpp::Shield<SEXP> newer(new_sentinel());
  Rcpp::Shield<SEXP> reference(R_MakeWeakRef(newer, R_NilValue, R_NilValue, FALSE));
  awaited()[object] = {std::move(then), Preserved(newer)};
}

SEXP key_of(SEXP weak_reference) {
  const OwnedObjects::Scope apart(nullptr);
  // R declares it for embedding, but has no other call that runs them without a collection.
  R_RunPendingFinalizers();  // lint: allow non-api
  return R_WeakRefKey(weak_reference);
}

void on_next_gc(std::function<void()> then) {
  Rcpp::Shield<SEXP> sentinel(new_sentinel());
  register_finalizer(sentinel, [then = std::move(then)](SEXP) { then(); });
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks::r;

// Calls the function `then` with `object`, an environment or an external pointer, once R has let go
// of it; `then` takes care of its errors. As with reg.finalizer(), it must not see `object`.
// [[Rcpp::export(rng = false)]]
void cpp_register_finalizer(SEXP object, SEXP then) {
  guarded_entry([&] {
    if (TYPEOF(object) != ENVSXP && TYPEOF(object) != EXTPTRSXP) {
      runhooks::invalid_argument("An environment or an external pointer is expected, not an object "
                                 "of type ", Rf_type2char(TYPEOF(object)), ".");
    }
    if (!Rf_isFunction(then)) {
      runhooks::invalid_argument("A function is expected, not an object of type ",
                                 Rf_type2char(TYPEOF(then)), ".");
    }
    register_finalizer(object, [function = Preserved(then)](SEXP gone) {
      Rcpp::Shield<SEXP> call(Rf_lang2(function.get(), gone));
      eval_r(call, R_BaseEnv);
    });
  });
}
