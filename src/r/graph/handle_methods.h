// Lazy registration of the R methods of tensors and variables.
#pragma once

#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

// Marks a handle as S4 for `%*%`, which dispatches on S4 objects only before R 4.3. Other generics
// find the S3 methods.
void mark_as_s4(SEXP handle);
// Registers the methods when the first handle is created that users can access.
void register_tensor_methods();

// Within this scope only the core uses handles, so the registration, which is slow, does not
// happen.
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
