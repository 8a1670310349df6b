// RFunction: an R function that the core calls, and the object that keeps it alive.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "r/values/handles.h"

namespace runhooks {
namespace r {

// Preserved until transfer_to() gives it to an R object, so that R's collector can find cycles.
class RFunction {
 public:
  // Reports the function to an active collect_new_closures().
  static std::shared_ptr<RFunction> make(SEXP function);
  explicit RFunction(std::unique_ptr<ObjectOwner> keeper) : keeper_(std::move(keeper)) {}
  // Throws if R has collected the owner.
  SEXP get() const;
  void attach_to(std::unique_ptr<ObjectOwner> keeper) { keeper_ = std::move(keeper); }

 private:
  std::unique_ptr<ObjectOwner> keeper_;
};
using RFunctionPtr = std::shared_ptr<RFunction>;

// The functions created while `make` runs. Transfer them to an owner.
using NewFunctions = std::vector<std::weak_ptr<RFunction>>;
NewFunctions collect_new_closures(const std::function<void()>& make);

// Ties the functions to `owner`, an environment or an external pointer. Skips deleted functions.
void transfer_to(SEXP owner, const NewFunctions& functions);

}  // namespace r
}  // namespace runhooks
