// Rcpp's headers, told that the functions of its library are here (rcpp.cpp).
#pragma once

// Its library would come with its namespace, which takes R as long to load as all of ours, and of
// which nothing is used.
#define COMPILING_RCPP
#include <Rcpp/Lightest>

namespace Rcpp {
namespace internal {

// Rcpp takes std::string to be in the native encoding. Those of the core are UTF-8.
template <>
SEXP make_charsexp<std::string>(const std::string& text);

}  // namespace internal
}  // namespace Rcpp
