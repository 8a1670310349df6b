#include "r/graph/handle_methods.h"

#include "r/values/handles.h"

namespace runhooks {
namespace r {

namespace {

bool is_suppressed = false;

}  // namespace

void mark_as_s4(SEXP handle) { Rf_asS4(handle, TRUE, /* complete = */ 0); }

void register_tensor_methods() {
  static bool is_registered = false;
  if (is_registered || is_suppressed) return;
  call_internal("register_tensor_methods");
  is_registered = true;
}

SuppressMethodRegistration::SuppressMethodRegistration(bool is_internal) : outer_(is_suppressed) {
  is_suppressed = is_internal;
}
SuppressMethodRegistration::~SuppressMethodRegistration() { is_suppressed = outer_; }

}  // namespace r
}  // namespace runhooks
