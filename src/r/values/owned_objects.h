// OwnedObjects: preserved R objects that live as long as one external pointer.
#pragma once

#include <memory>

#include "r/values/handles.h"

namespace runhooks {
namespace r {

// A hook's closures may refer to the session that calls them. Preserving them globally would leak
// both; storing them in the session's protected slot lets R's collector find the cycle. An
// OwnedObjects must outlive its Preserved objects. After the owner's finalizer has run, the R
// objects are invalid.
class OwnedObjects : public std::enable_shared_from_this<OwnedObjects> {
 public:
  OwnedObjects();
  OwnedObjects(const OwnedObjects&) = delete;
  OwnedObjects& operator=(const OwnedObjects&) = delete;
  // Moves all objects to the protected slot of the external pointer `owner`, in addition to its
  // current protected value.
  void attach_to(SEXP owner);
  // Keeps the owner alive until release_owner(). Does not allocate.
  void hold_owner() {
    if (weak_owner_.get() != R_NilValue) SETCAR(owner_cell_.get(), R_WeakRefKey(weak_owner_.get()));
  }
  void release_owner() { SETCAR(owner_cell_.get(), R_NilValue); }

  // In this scope, `objects` owns the R objects that C++ preserves; NULL selects the global list.
  // eval_r() selects the global list, because the objects that R code creates have no owner.
  class Scope {
   public:
    explicit Scope(OwnedObjects* objects) : outer_(current_) { current_ = objects; }
    ~Scope() { current_ = outer_; }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    OwnedObjects* outer_;
  };
  // Returns the objects of the innermost scope, or NULL.
  static std::shared_ptr<OwnedObjects> current() {
    return current_ ? current_->shared_from_this() : nullptr;
  }
  // Returns the list cell after which class Preserved (handles.h) inserts a new cell; R_NilValue
  // for the global list.
  static SEXP current_list() { return current_ ? current_->list_ : R_NilValue; }

 private:
  static inline OwnedObjects* current_ = nullptr;  // only R's thread preserves R objects
  SEXP list_;
  Preserved root_, weak_owner_, owner_cell_;
};

}  // namespace r
}  // namespace runhooks
