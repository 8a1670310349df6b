// The functions of Rcpp's library that its headers call. R loads each library with local symbols,
// so these do not affect other packages.
#include "r/values/rcpp.h"

#include <cxxabi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

// Returns the head of a list of preserved objects. The list is doubly linked (CAR: previous cell,
// TAG: object), so that removal takes constant time.
SEXP precious_objects() {
  static SEXP head = nullptr;
  if (head == nullptr) {
    head = Rf_cons(R_NilValue, R_NilValue);
    R_PreserveObject(head);
  }
  return head;
}

}  // namespace

namespace Rcpp {

SEXP Rcpp_precious_preserve(SEXP object) {
  if (object == R_NilValue) return R_NilValue;
  Shield<SEXP> protect(object);
  SEXP head = precious_objects();
  Shield<SEXP> cell(Rf_cons(head, CDR(head)));
  SET_TAG(cell, object);
  SETCDR(head, cell);
  if (CDR(cell) != R_NilValue) SETCAR(CDR(cell), cell);
  return cell;
}

void Rcpp_precious_remove(SEXP token) {
  if (token == R_NilValue || TYPEOF(token) != LISTSXP) return;
  SEXP previous = CAR(token), next = CDR(token);
  SET_TAG(token, R_NilValue);
  SETCDR(previous, next);
  if (next != R_NilValue) SETCAR(next, previous);
}

}  // namespace Rcpp

void* dataptr(SEXP x) {
  switch (TYPEOF(x)) {
    case LGLSXP:
      return LOGICAL(x);
    case INTSXP:
      return INTEGER(x);
    case REALSXP:
      return REAL(x);
    case CPLXSXP:
      return COMPLEX(x);
    case RAWSXP:
      return RAW(x);
    default:
      throw std::invalid_argument(std::string("A vector of type '") + Rf_type2char(TYPEOF(x)) +
                                  "' has no contiguous numbers.");
  }
}

std::string demangle(const std::string& name) {  // lint: allow caller: as dataptr()
  int status = 0;
  char* readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 ? readable : name;
  std::free(readable);
  return result;
}

// C++ stack traces are never shown, so they are not recorded.
// lint: allow caller: as dataptr()
SEXP rcpp_get_stack_trace() { return R_NilValue; }
// lint: allow caller: as dataptr()
SEXP rcpp_set_stack_trace(SEXP) { return R_NilValue; }
