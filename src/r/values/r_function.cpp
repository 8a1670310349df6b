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

// The list to which collect_new_closures() adds new functions. Only R's thread creates them.
NewFunctions* new_functions = nullptr;

}  // namespace

RFunctionPtr RFunction::make(SEXP function) {
  auto result = std::make_shared<RFunction>(std::make_unique<PreservedFunction>(function));
  if (new_functions) new_functions->push_back(result);
  return result;
}

SEXP RFunction::get() const {
  SEXP function = owner_->get();
  if (function == R_NilValue) {
    fail(Code::kFailedPrecondition,
         "The R function has been garbage-collected together with the object that owned it.");
  }
  return function;
}

NewFunctions collect_new_closures(const std::function<void()>& make) {
  NewFunctions functions;
  struct CollectScope {
    NewFunctions* outer = new_functions;
    explicit CollectScope(NewFunctions& collected) { new_functions = &collected; }
    ~CollectScope() { new_functions = outer; }
  };
  const CollectScope collect_scope(functions);
  make();
  return functions;
}

void transfer_to(SEXP owner, const NewFunctions& functions) {
  for (const auto& reference : functions) {
    const RFunctionPtr function = reference.lock();
    if (function) function->attach_to(std::make_unique<EphemeronValue>(owner, function->get()));
  }
}

}  // namespace r
}  // namespace runhooks
