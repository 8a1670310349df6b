// What lives here: Rcpp's headers, told that the functions of its library are here (rcpp.cpp).
// Who may use it: src/r/, in the place of Rcpp's own header.
// What it must not know: anything of ours.
#pragma once

// Its library would come with its namespace, which takes R as long to load as all of ours, and of
// which nothing is used.
#define COMPILING_RCPP
#include <Rcpp/Lightest>
