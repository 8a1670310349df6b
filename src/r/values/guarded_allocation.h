// Makes R's allocating functions throw where they would longjmp over C++ frames, also in Rcpp's
// headers: macros replace the functions.
#pragma once

#include <Rcpp/r/headers.h>

namespace runhooks {
namespace r {

// Calls the function. An R error becomes RUnwind (r/values/guarded_entry.h).
SEXP guard_allocation(SEXP (*function)(void*), void* data);

template <auto function>
struct Guarded;
template <typename... Arguments, SEXP (*function)(Arguments...)>
struct Guarded<function> {
  static SEXP call(Arguments... arguments) {
    const auto allocate = [&] { return function(arguments...); };
    return guard_allocation(
        [](void* data) -> SEXP { return (*static_cast<decltype(allocate)*>(data))(); },
        const_cast<void*>(static_cast<const void*>(&allocate)));
  }
};

}  // namespace r
}  // namespace runhooks

// The macros may use their own names, because the preprocessor does not expand a macro in itself.
#define Rf_allocVector runhooks::r::Guarded<&::Rf_allocVector>::call
#define Rf_allocMatrix runhooks::r::Guarded<&::Rf_allocMatrix>::call
#define Rf_mkChar runhooks::r::Guarded<&::Rf_mkChar>::call
#define Rf_mkCharLen runhooks::r::Guarded<&::Rf_mkCharLen>::call
#define Rf_mkCharCE runhooks::r::Guarded<&::Rf_mkCharCE>::call
#define Rf_mkCharLenCE runhooks::r::Guarded<&::Rf_mkCharLenCE>::call
#define Rf_mkString runhooks::r::Guarded<&::Rf_mkString>::call
#define Rf_ScalarReal runhooks::r::Guarded<&::Rf_ScalarReal>::call
#define Rf_ScalarInteger runhooks::r::Guarded<&::Rf_ScalarInteger>::call
#define Rf_ScalarLogical runhooks::r::Guarded<&::Rf_ScalarLogical>::call
#define Rf_ScalarString runhooks::r::Guarded<&::Rf_ScalarString>::call
#define Rf_install runhooks::r::Guarded<&::Rf_install>::call
#define Rf_cons runhooks::r::Guarded<&::Rf_cons>::call
#define Rf_lcons runhooks::r::Guarded<&::Rf_lcons>::call
#define Rf_setAttrib runhooks::r::Guarded<&::Rf_setAttrib>::call
#define Rf_namesgets runhooks::r::Guarded<&::Rf_namesgets>::call
#define Rf_duplicate runhooks::r::Guarded<&::Rf_duplicate>::call
#define Rf_coerceVector runhooks::r::Guarded<&::Rf_coerceVector>::call
#define Rf_asCharacterFactor runhooks::r::Guarded<&::Rf_asCharacterFactor>::call
#define R_MakeExternalPtr runhooks::r::Guarded<&::R_MakeExternalPtr>::call
#define R_MakeWeakRef runhooks::r::Guarded<&::R_MakeWeakRef>::call
