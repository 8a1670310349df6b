// R objects that C++ holds, C++ objects that R holds.
#pragma once

#include <memory>
#include <utility>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// Keeps an R object alive. How many there are is counted, so that tests can see that none is
// forgotten.
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

// What keeps an R object; NULL of R where that is gone.
class ObjectOwner {
 public:
  virtual ~ObjectOwner() = default;
  virtual SEXP get() const = 0;
};

// An R object that lives as long as another one does, or what C++ has of it: R's collector sees it
// as a part of that one, so that a circle of both is none that it cannot see.
class EphemeronValue : public ObjectOwner {
 public:
  // `owner`: an environment or an external pointer.
  EphemeronValue(SEXP owner, SEXP object);
  ~EphemeronValue() override;
  EphemeronValue(const EphemeronValue&) = delete;
  EphemeronValue& operator=(const EphemeronValue&) = delete;
  // NULL of R where R let go of it.
  SEXP owner() const { return R_WeakRefKey(weak_.get()); }
  SEXP get() const override { return R_WeakRefValue(weak_.get()); }

 private:
  Preserved weak_;
};

// The environment in which the core calls the package's own functions.
SEXP package_namespace();

// A kind of handle: external pointers carry it as their tag, and errors name it.
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
inline const HandleKind kMade("runhooks_made");

inline bool is_handle(SEXP x, const HandleKind& kind) {
  return TYPEOF(x) == EXTPTRSXP && R_ExternalPtrTag(x) == kind.tag();
}

// An external pointer that owns a shared_ptr<T>.
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

// Throws where `handle` is not of this kind, or was saved and read back.
void* handle_address(SEXP handle, const HandleKind& kind);

template <typename T>
std::shared_ptr<T>& from_handle(SEXP handle, const HandleKind& kind) {
  return *static_cast<std::shared_ptr<T>*>(handle_address(handle, kind));
}

}  // namespace r
}  // namespace runhooks
