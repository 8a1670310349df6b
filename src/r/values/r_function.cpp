#include "r/values/r_function.h"

#include "base/status.h"

namespace runhooks {
namespace r {

namespace {

class HeldFunction : public ObjectOwner {
 public:
  explicit HeldFunction(SEXP function) : function_(function) {}
  SEXP get() const override { return function_.get(); }

 private:
  Preserved function_;
};

// Collects new functions. Only R's thread creates them.
NewFunctions* listener = nullptr;

}  // namespace

RFunctionPtr RFunction::make(SEXP function) {
  auto made = std::make_shared<RFunction>(std::make_unique<HeldFunction>(function));
  if (listener) listener->push_back(made);
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
  struct Listening {
    NewFunctions* outer = listener;
    explicit Listening(NewFunctions& mine) { listener = &mine; }
    ~Listening() { listener = outer; }
  };
  const Listening listening(made);
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
