// The functions of Rcpp's library that its headers call, for objects that R is to keep and what
// vectors hold. Symbols of other packages' libraries stay theirs: R opens each library for itself.
#include "r/values/rcpp.h"

#include <cxxabi.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

// The head of a list that is linked both ways, so that any cell leaves it at once: a cell's CAR is
// the one before, its TAG what it keeps.
SEXP kept_objects() {
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
  PROTECT(object);
  SEXP head = kept_objects();
  SEXP cell = PROTECT(Rf_cons(head, CDR(head)));
  SET_TAG(cell, object);
  SETCDR(head, cell);
  if (CDR(cell) != R_NilValue) SETCAR(CDR(cell), cell);
  UNPROTECT(2);
  return cell;
}

void Rcpp_precious_remove(SEXP token) {
  if (token == R_NilValue || TYPEOF(token) != LISTSXP) return;
  SEXP before = CAR(token), after = CDR(token);
  SET_TAG(token, R_NilValue);
  SETCDR(before, after);
  if (after != R_NilValue) SETCAR(after, before);
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
      throw std::invalid_argument(
          std::string("Only vectors of numbers have their data in a row, not one of type '") +
          Rf_type2char(TYPEOF(x)) + "'.");
  }
}

std::string demangle(const std::string& name) {  // lint: allow caller: as dataptr()
  int status = 0;
  char* readable = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  const std::string result = status == 0 ? readable : name;
  std::free(readable);
  return result;
}

// Traces of C++ frames are shown to nobody, so none is kept.
// lint: allow caller: as dataptr()
SEXP rcpp_get_stack_trace() { return R_NilValue; }
// lint: allow caller: as dataptr()
SEXP rcpp_set_stack_trace(SEXP) { return R_NilValue; }
