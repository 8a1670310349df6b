// Handles of savers and scaffolds.
#pragma once

#include <memory>

#include "r/values/rcpp.h"

namespace runhooks {

class Saver;
struct Scaffold;

namespace r {

// Returns the R object of a saver, which is not protected from R's collector.
SEXP saver_handle(const std::shared_ptr<Saver>& saver);
bool is_saver(SEXP x);
std::shared_ptr<Saver> saver_of(SEXP x);
std::shared_ptr<Scaffold> scaffold_of(SEXP x);

}  // namespace r
}  // namespace runhooks
