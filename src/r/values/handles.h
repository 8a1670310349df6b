// Preserved R objects, which C++ owns, and handles: external pointers to C++ objects, which R owns.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// Protects an R object from garbage collection. Tests use count() to find leaks.
class Preserved {
 public:
  Preserved() = default;
  explicit Preserved(SEXP object) { reset(object); }
  ~Preserved() { reset(R_NilValue); }
  Preserved(const Preserved& other) { reset(other.object_); }
  Preserved& operator=(const Preserved& other) {
    reset(other.object_);
    return *this;
  }
  void reset(SEXP object);
  SEXP get() const { return object_; }
  static int count();

 private:
  SEXP object_ = R_NilValue;
  SEXP cell_ = R_NilValue;
};

// Refers to an R object, whose lifetime a subclass controls. get() returns R_NilValue after R has
// collected the object.
class ObjectOwner {
 public:
  virtual ~ObjectOwner() = default;
  virtual SEXP get() const = 0;
};

// Keeps an R object alive as long as its owner. R's collector can find cycles of both.
class EphemeronValue : public ObjectOwner {
 public:
  // `owner`: an environment or an external pointer.
  EphemeronValue(SEXP owner, SEXP object);
  ~EphemeronValue() override;
  EphemeronValue(const EphemeronValue&) = delete;
  EphemeronValue& operator=(const EphemeronValue&) = delete;
  // R_NilValue after the owner has been collected.
  SEXP owner() const { return R_WeakRefKey(weak_.get()); }
  SEXP get() const override { return R_WeakRefValue(weak_.get()); }

 private:
  Preserved weak_;
};

SEXP package_namespace();

// Returns a list of the objects, which is not protected from R's collector.
SEXP preserved_to_r(const std::vector<Preserved>& objects);

// A kind of handle. Its name is the tag of the external pointers and appears in messages.
class HandleKind {
 public:
  explicit HandleKind(const char* name) : name_(name) {}
  const char* name() const { return name_; }
  SEXP tag() const {
    if (!tag_) tag_ = Rf_install(name_);
    return tag_;
  }

 private:
  const char* name_;
  mutable SEXP tag_ = nullptr;  // symbols are never collected
};

inline const HandleKind kGraph("runhooks_graph");
inline const HandleKind kTensor("runhooks_tensor");
inline const HandleKind kOperation("runhooks_operation");
inline const HandleKind kVariable("runhooks_variable");
inline const HandleKind kSession("runhooks_session");
inline const HandleKind kSessionOwner("runhooks_session_owner");
inline const HandleKind kContext("runhooks_context");
inline const HandleKind kCoordinator("runhooks_coordinator");
inline const HandleKind kPredictions("runhooks_predictions");
inline const HandleKind kMonitored("runhooks_monitored_session");
inline const HandleKind kHistory("runhooks_history");
inline const HandleKind kScaffold("runhooks_scaffold");
inline const HandleKind kSaver("runhooks_saver");
inline const HandleKind kCoreObject("runhooks_core_object");

inline bool is_handle(SEXP x, const HandleKind& kind) {
  return TYPEOF(x) == EXTPTRSXP && R_ExternalPtrTag(x) == kind.tag();
}

template <typename T>
SEXP make_handle(std::shared_ptr<T> object, const HandleKind& kind) {
  auto* owned = new std::shared_ptr<T>(std::move(object));
  Rcpp::Shield<SEXP> handle(R_MakeExternalPtr(owned, kind.tag(), R_NilValue));
  R_RegisterCFinalizerEx(
      handle,
      [](SEXP pointer) {
        delete static_cast<std::shared_ptr<T>*>(R_ExternalPtrAddr(pointer));
        R_ClearExternalPtr(pointer);
      },
      TRUE);
  return handle;
}

// Returns the address in a handle. Throws if the handle is of another kind or its address is NULL,
// for example because it was read from a file.
void* handle_address(SEXP handle, const HandleKind& kind);

template <typename T>
std::shared_ptr<T>& from_handle(SEXP handle, const HandleKind& kind) {
  return *static_cast<std::shared_ptr<T>*>(handle_address(handle, kind));
}

}  // namespace r
}  // namespace runhooks
