#include "r/values/handles.h"

#include <algorithm>

#include "r/values/guarded_entry.h"
#include "r/values/owned_objects.h"
#include "r/values/text.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

namespace {

int preserved_count = 0;

// Returns the head of a list of preserved objects. The list is doubly linked (CAR: previous cell,
// CDR: next cell, TAG: object), so that a release takes constant time.
SEXP preserved_list() {
  if (OwnedObjects::current_list() != R_NilValue) return OwnedObjects::current_list();
  static SEXP list = [] {
    SEXP head = Rf_cons(R_NilValue, R_NilValue);
    R_PreserveObject(head);
    return head;
  }();
  return list;
}

}  // namespace

void Preserved::reset(SEXP object) {
  if (object == object_) return;
  if (cell_ != R_NilValue) {
    SEXP previous = CAR(cell_), next_cell = CDR(cell_);
    SETCDR(previous, next_cell);
    if (next_cell != R_NilValue) SETCAR(next_cell, previous);
    --preserved_count;
  }
  object_ = object;
  cell_ = R_NilValue;
  if (object == R_NilValue) return;
  Rcpp::Shield<SEXP> protect(object);
  SEXP list = preserved_list();
  // Reads CDR(list) only after Rf_cons(), which may run finalizers that release objects.
  cell_ = Rf_cons(list, R_NilValue);
  SEXP next = CDR(list);
  SETCDR(cell_, next);
  SET_TAG(cell_, object);
  SETCDR(list, cell_);
  if (next != R_NilValue) SETCAR(next, cell_);
  ++preserved_count;
}

int Preserved::count() { return preserved_count; }

OwnedObjects::OwnedObjects() {
  const Scope global_list(nullptr);
  Rcpp::Shield<SEXP> list(Rf_cons(R_NilValue, R_NilValue));
  Rcpp::Shield<SEXP> owner_cell(Rf_cons(R_NilValue, R_NilValue));
  list_ = list;
  root_.reset(list);
  owner_cell_.reset(owner_cell);
}

void OwnedObjects::attach_to(SEXP owner) {
  const Scope global_list(nullptr);
  Rcpp::Shield<SEXP> weak(R_MakeWeakRef(owner, R_NilValue, R_NilValue, FALSE));
  weak_owner_.reset(weak);
  Rcpp::Shield<SEXP> protected_values(Rf_cons(list_, R_ExternalPtrProtected(owner)));
  R_SetExternalPtrProtected(owner, protected_values);
  root_.reset(R_NilValue);
}

EphemeronValue::EphemeronValue(SEXP owner, SEXP object) {
  Rcpp::Shield<SEXP> weak(R_MakeWeakRef(owner, object, R_NilValue, FALSE));
  weak_.reset(weak);
}

EphemeronValue::~EphemeronValue() { R_RunWeakRefFinalizer(weak_.get()); }  // clears key and value

SEXP package_namespace() {
  static SEXP ns = [] {
    Rcpp::Shield<SEXP> name(text_to_r("runhooks"));
    return R_FindNamespace(name);  // protected by R's registry
  }();
  return ns;
}

SEXP preserved_to_r(const std::vector<Preserved>& objects) {
  Rcpp::Shield<SEXP> list(Rf_allocVector(VECSXP, static_cast<R_xlen_t>(objects.size())));
  for (size_t i = 0; i < objects.size(); ++i) {
    SET_VECTOR_ELT(list, static_cast<R_xlen_t>(i), objects[i].get());
  }
  return list;
}

namespace {

// "a tensor" for "runhooks_tensor".
std::string object_in_words(const HandleKind& kind) {
  std::string text = kind.name();
  const std::string prefix = "runhooks_";
  if (text.compare(0, prefix.size(), prefix) == 0) text.erase(0, prefix.size());
  if (text == "core_object") text = "dataset or another object of the core";
  std::replace(text.begin(), text.end(), '_', ' ');
  return str_cat(text[0] == 'o' ? "an " : "a ", text);
}

}  // namespace

void* handle_address(SEXP handle, const HandleKind& kind) {
  if (!is_handle(handle, kind)) {
    invalid_argument("The value must be ", object_in_words(kind), ", not ", kind_in_words(handle),
                     ".");
  }
  void* address = R_ExternalPtrAddr(handle);
  if (!address) {
    fail(Code::kFailedPrecondition, "This object is no longer valid: it was ",
         object_in_words(kind), " that is closed, or that another R session has saved.");
  }
  return address;
}

}  // namespace r
}  // namespace runhooks

using namespace runhooks::r;

// Returns a weak reference that preserves `object` while `owner` lives. R does not serialize it.
// [[Rcpp::export(rng = false)]]
SEXP cpp_attach_ephemeron(SEXP owner, SEXP object) {
  return guarded_entry([&]() -> SEXP {
    if (TYPEOF(owner) != ENVSXP) {
      runhooks::invalid_argument("`owner` must be an environment, not ", kind_in_words(owner), ".");
    }
    return R_MakeWeakRef(owner, object, R_NilValue, FALSE);
  });
}

// Returns the object that cpp_attach_ephemeron() has attached; NULL if the weak reference was read
// from a file.
// [[Rcpp::export(rng = false)]]
SEXP cpp_ephemeron_value(SEXP part) {
  return guarded_entry([&]() -> SEXP {
    if (TYPEOF(part) != WEAKREFSXP) {
      runhooks::invalid_argument("A weak reference is expected, not ", kind_in_words(part), ".");
    }
    return R_WeakRefValue(part);
  });
}
