// When R comes to know the methods of tensors and variables.
#pragma once

#include "r/values/guarded_entry.h"

namespace runhooks {
namespace r {

// For `%*%`, of which R before 4.3 has methods of S4 objects only; whatever else R finds methods of, it
// finds S3's.
void mark_as_s4(SEXP handle);
// R knows the methods from the first handle on that a user may see.
void register_tensor_methods();

// While it lives, only the core sees handles: the methods take as long to know as library() does.
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
