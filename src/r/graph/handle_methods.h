// Lazy registration of the R methods of tensors and variables.
#pragma once

#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

// Needed for `%*%`, which before R 4.3 dispatches on S4 objects only.
void mark_as_s4(SEXP handle);
// Registers the methods when the first handle is created that users can access.
void register_tensor_methods();

// Avoids the slow registration while only the core uses handles.
class SuppressMethodRegistration {
 public:
  explicit SuppressMethodRegistration(bool are_unseen);
  ~SuppressMethodRegistration();
  SuppressMethodRegistration(const SuppressMethodRegistration&) = delete;
  SuppressMethodRegistration& operator=(const SuppressMethodRegistration&) = delete;

 private:
  bool outer_;
};

}  // namespace r
}  // namespace runhooks
