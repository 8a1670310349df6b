// RFunction, a function of R that the core calls, and who keeps it for R.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "r/values/handles.h"

namespace runhooks {
namespace r {

// Held, until it is known what of R's has what calls it: from then on it is kept by that. A function
// may know its keeper, and R's collector is to see the circle.
class RFunction {
 public:
  // collect_new_closures() hears of it.
  static std::shared_ptr<RFunction> make(SEXP function);
  explicit RFunction(std::unique_ptr<ObjectOwner> keeper) : keeper_(std::move(keeper)) {}
  // The error says so where R let go of its keeper.
  SEXP get() const;
  void attach_to(std::unique_ptr<ObjectOwner> keeper) { keeper_ = std::move(keeper); }

 private:
  std::unique_ptr<ObjectOwner> keeper_;
};
using RFunctionPtr = std::shared_ptr<RFunction>;

// Those that were made while `make` ran, and are to be kept by somebody.
using NewFunctions = std::vector<std::weak_ptr<RFunction>>;
NewFunctions collect_new_closures(const std::function<void()>& make);

// `owner`, an environment or an external pointer, has what calls these functions. Those that are
// gone do not count.
void transfer_to(SEXP owner, const NewFunctions& functions);

}  // namespace r
}  // namespace runhooks
