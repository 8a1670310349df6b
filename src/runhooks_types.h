// What lives here: types of arguments of the exported functions, which Rcpp makes of what R gives.
// Who may use it: src/r/, and RcppExports.cpp, which includes it by its name.
// What it must not know: what the functions do with them.
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

}  // namespace r
}  // namespace runhooks

using runhooks::r::Text;
using runhooks::r::Texts;
