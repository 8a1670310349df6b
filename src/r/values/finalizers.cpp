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
  std::function<void(SEXP)> callback;
  Preserved younger;  // has a weak reference that is younger than the finalizer
};

std::map<SEXP, PendingFinalizer>& pending_finalizers() {
  static auto* finalizers = new std::map<SEXP, PendingFinalizer>;
  return *finalizers;
}

SEXP new_sentinel() { return R_MakeExternalPtr(nullptr, R_NilValue, R_NilValue); }

// Drops errors and interrupts, because a collection can happen anywhere and no caller expects them.
void run_finalizer(SEXP object) {
  const auto found = pending_finalizers().find(object);
  const PendingFinalizer pending = std::move(found->second);
  pending_finalizers().erase(found);
  try {
    pending.callback(object);
  } catch (...) {
  }
}

}  // namespace

void register_finalizer(SEXP object, std::function<void(SEXP)> callback) {
  const OwnedObjects::Scope global_list(nullptr);
  R_RegisterCFinalizerEx(object, run_finalizer, FALSE);
  Rcpp::Shield<SEXP> younger(new_sentinel());
  Rcpp::Shield<SEXP> reference(R_MakeWeakRef(younger, R_NilValue, R_NilValue, FALSE));
  pending_finalizers()[object] = {std::move(callback), Preserved(younger)};
}

SEXP key_of(SEXP weak_reference) {
  const OwnedObjects::Scope global_list(nullptr);
  // R declares this function for embedding. No other function runs finalizers without a collection.
  R_RunPendingFinalizers();  // lint: allow non-api
  return R_WeakRefKey(weak_reference);
}

void on_next_gc(std::function<void()> callback) {
  Rcpp::Shield<SEXP> sentinel(new_sentinel());
  register_finalizer(sentinel, [callback = std::move(callback)](SEXP) { callback(); });
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks::r;

// Registers a finalizer of an environment or external pointer. Errors of `then` are dropped. As
// with reg.finalizer(), `then` must not refer to `object`.
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
    register_finalizer(object, [function = Preserved(then)](SEXP collected_object) {
      call_r_function(function.get(), {collected_object}, R_BaseEnv);
    });
  });
}
