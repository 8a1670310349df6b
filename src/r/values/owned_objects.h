// OwnedObjects, R objects that C++ holds for one object of R's, which then keeps them.
#pragma once

#include <memory>

#include "r/values/handles.h"

namespace runhooks {
namespace r {

// What a hook holds may know the session that calls it: held as all else is, neither would ever go.
// Held together, it hangs on the session's own object, and R's collector sees the circle. It must
// outlive what is held, and nothing of that may be used once the owner's finalizer has run.
class OwnedObjects : public std::enable_shared_from_this<OwnedObjects> {
 public:
  OwnedObjects();
  OwnedObjects(const OwnedObjects&) = delete;
  OwnedObjects& operator=(const OwnedObjects&) = delete;
  // `owner`, an external pointer, keeps all of it from now on, beside what it protects already.
  void attach_to(SEXP owner);
  // For those who need it for longer; nothing is allocated.
  void hold_owner() {
    if (weak_owner_.get() != R_NilValue) SETCAR(of_owner_.get(), R_WeakRefKey(weak_owner_.get()));
  }
  void release_owner() { SETCAR(of_owner_.get(), R_NilValue); }

  // While it lives, what C++ begins to hold is held together. R's own code runs apart (eval_r()):
  // what that makes is nobody's part. NULL: apart.
  class Scope {
   public:
    explicit Scope(OwnedObjects* now) : before_(current_) { current_ = now; }
    ~Scope() { current_ = before_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    OwnedObjects* before_;
  };
  // That of the scope, or NULL.
  static std::shared_ptr<OwnedObjects> current() {
    return current_ ? current_->shared_from_this() : nullptr;
  }
  // The cell behind which a Held enters its own; NULL of R where it is held apart.
  static SEXP current_list() { return current_ ? current_->list_ : R_NilValue; }

 private:
  static inline OwnedObjects* current_ = nullptr;  // R's thread alone holds objects of R's
  SEXP list_;
  Preserved root_, weak_owner_, of_owner_;
};

}  // namespace r
}  // namespace runhooks
