// Lazy registration of the R methods of tensors and variables.
#pragma once

#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

// Marks a handle as an S4 object: before R 4.3, `%*%` finds methods of S4 objects only.
void mark_as_s4(SEXP handle);
// Registers the methods; called before the first handle that users can access is created.
void register_tensor_methods();

// If `is_internal`, register_tensor_methods() does nothing in this scope, because registration is
// slow and users never access the scope's handles.
class SuppressMethodRegistration {
 public:
  explicit SuppressMethodRegistration(bool is_internal);
  ~SuppressMethodRegistration();
  SuppressMethodRegistration(const SuppressMethodRegistration&) = delete;
  SuppressMethodRegistration& operator=(const SuppressMethodRegistration&) = delete;

 private:
  bool outer_;
};

}  // namespace r
}  // namespace runhooks
