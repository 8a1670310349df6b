#include "r/graph/handle_methods.h"

#include "r/values/handles.h"

namespace runhooks {
namespace r {

namespace {

bool handles_are_unseen = false;

}  // namespace

void mark_as_s4(SEXP handle) { Rf_asS4(handle, TRUE, /* complete = */ 0); }

void register_tensor_methods() {
  static bool are_known = false;
  if (are_known || handles_are_unseen) return;
  Rcpp::Shield<SEXP> call(Rf_lang1(Rf_install("register_tensor_methods")));
  eval_r(call, package_namespace());
  are_known = true;
}

SuppressMethodRegistration::SuppressMethodRegistration(bool are_unseen) : outer_(handles_are_unseen) {
  handles_are_unseen = are_unseen;
}
SuppressMethodRegistration::~SuppressMethodRegistration() { handles_are_unseen = outer_; }

}  // namespace r
}  // namespace runhooks
