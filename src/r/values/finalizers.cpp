#include "r/values/finalizers.h"

#include <map>
#include <utility>

#include "r/values/guarded_entry.h"
#include "r/values/owned_objects.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

struct PendingFinalizer {
  std::function<void(SEXP)> then;
  Preserved newer;  // has a weak reference that is younger than the finalizer
};

std::map<SEXP, PendingFinalizer>& pending_finalizers() {
  static auto* all = new std::map<SEXP, PendingFinalizer>;
  return *all;
}

SEXP new_sentinel() { return R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue); }

// Drops errors and interrupts: a collection can happen anywhere, so no caller could handle them.
void collected(SEXP object) {
  const auto found = pending_finalizers().find(object);
  const PendingFinalizer mine = std::move(found->second);
  pending_finalizers().erase(found);
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
  pending_finalizers()[object] = {std::move(then), Preserved(newer)};
}

SEXP key_of(SEXP weak_reference) {
  const OwnedObjects::Scope apart(nullptr);
  // R declares this for embedding, but nothing else runs finalizers without a collection.
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

// For an environment or external pointer. Errors of `then` are dropped. As with reg.finalizer(),
// `then` must not refer to `object`.
// [[Rcpp::export(rng = false)]]
void cpp_register_finalizer(SEXP object, SEXP then) {
  guarded_entry([&] {
    if (TYPEOF(object) != ENVSXP && TYPEOF(object) != EXTPTRSXP) {
      runhooks::invalid_argument("An environment or an external pointer is expected, not ",
                                 kind_in_words(object), ".");
    }
    if (!Rf_isFunction(then)) {
      runhooks::invalid_argument("A function is expected, not ", kind_in_words(then), ".");
    }
    register_finalizer(object, [function = Preserved(then)](SEXP gone) {
      Rcpp::Shield<SEXP> call(Rf_lang2(function.get(), gone));
      eval_r(call, R_BaseEnv);
    });
  });
}
