#include "r/values/r_function.h"

#include "base/status.h"

namespace runhooks {
namespace r {

namespace {

class PreservedFunction : public ObjectOwner {
 public:
  explicit PreservedFunction(SEXP function) : function_(function) {}
  SEXP get() const override { return function_.get(); }

 private:
  Preserved function_;
};

// Collects new functions. Only R's thread creates them.
NewFunctions* new_functions = nullptr;

}  // namespace

RFunctionPtr RFunction::make(SEXP function) {
  auto made = std::make_shared<RFunction>(std::make_unique<PreservedFunction>(function));
  if (new_functions) new_functions->push_back(made);
  return made;
}

SEXP RFunction::get() const {
  SEXP function = keeper_->get();
  if (function == R_NilValue) {
    fail(Code::kFailedPrecondition,
         "The R function has been garbage-collected together with the object that owned it.");
  }
  return function;
}

NewFunctions collect_new_closures(const std::function<void()>& make) {
  NewFunctions made;
  struct CollectScope {
    NewFunctions* outer = new_functions;
    explicit CollectScope(NewFunctions& mine) { new_functions = &mine; }
    ~CollectScope() { new_functions = outer; }
  };
  const CollectScope collect_scope(made);
  make();
  return made;
}

void transfer_to(SEXP owner, const NewFunctions& functions) {
  for (const auto& one : functions) {
    const RFunctionPtr function = one.lock();
    if (function) function->attach_to(std::make_unique<EphemeronValue>(owner, function->get()));
  }
}

}  // namespace r
}  // namespace runhooks
