// RFunction: an R function that the core calls, and the object that keeps it alive.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "r/values/handles.h"

namespace runhooks {
namespace r {

// C++ preserves the function until transfer_to() makes an R object its owner. R's collector can
// then find cycles.
class RFunction {
 public:
  // Makes a function, and adds it to the result of a collect_new_closures() that is running.
  static std::shared_ptr<RFunction> make(SEXP function);
  explicit RFunction(std::unique_ptr<ObjectOwner> owner) : owner_(std::move(owner)) {}
  // Throws if R has collected the owner.
  SEXP get() const;
  void attach_to(std::unique_ptr<ObjectOwner> owner) { owner_ = std::move(owner); }

 private:
  std::unique_ptr<ObjectOwner> owner_;
};
using RFunctionPtr = std::shared_ptr<RFunction>;

// Returns the functions created while `make` runs. The caller must transfer them to an owner.
using NewFunctions = std::vector<std::weak_ptr<RFunction>>;
NewFunctions collect_new_closures(const std::function<void()>& make);

// Makes `owner`, an environment or an external pointer, keep the functions alive. Skips deleted
// functions.
void transfer_to(SEXP owner, const NewFunctions& functions);

}  // namespace r
}  // namespace runhooks
