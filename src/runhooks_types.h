// Types of arguments of the exported functions, which Rcpp makes of what R gives.
#pragma once

#include <string>
#include <vector>

#include "r/values/rcpp.h"

namespace runhooks {
namespace r {

// A single string that is not missing.
struct Text : std::string {
  explicit Text(SEXP x);
};

// A character vector without missing elements.
struct Texts : std::vector<std::string> {
  explicit Texts(SEXP x);
};

// What the exception that is being handled means to R, for raise_in_r(): no C++ object may be left
// when that jumps.
SEXP caught_exception();
SEXP raise_in_r(SEXP caught);

}  // namespace r
}  // namespace runhooks

// Rcpp puts five handlers into each of the wrappers, which are most of what the compiler sees there.
// These have one, and the same functions for all.
#undef BEGIN_RCPP
#undef END_RCPP
#define BEGIN_RCPP         \
  SEXP rcpp_caught = NULL; \
  try {
#define END_RCPP                                     \
  }                                                  \
  catch (...) {                                      \
    rcpp_caught = ::runhooks::r::caught_exception(); \
  }                                                  \
  return ::runhooks::r::raise_in_r(rcpp_caught);

using runhooks::r::Text;
using runhooks::r::Texts;
