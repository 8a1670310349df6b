// Rcpp's headers without its shared library; rcpp.cpp defines the functions that they need.
#pragma once

// Loading Rcpp's namespace for its library would double the time that the package takes to load.
#define COMPILING_RCPP
#include "r/values/guarded_allocation.h"
#define RCPP_NO_R_HEADERS_CHECK  // guarded_allocation.h includes R's headers
#include <Rcpp/Lightest>

namespace Rcpp {
namespace internal {

// Rcpp assumes the native encoding for std::string. Strings of the core are UTF-8.
template <>
SEXP make_charsexp<std::string>(const std::string& text);

}  // namespace internal
}  // namespace Rcpp
