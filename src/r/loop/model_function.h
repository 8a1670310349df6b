// What lives here: ModelFunction, a function of R that a model calls when its graph is made.
// Who may use it: src/r/ only.
// What it must not know: what the function builds.
#pragma once

#include <memory>

#include "estimators/model_fn.h"
#include "r/values/handles.h"

namespace runhooks {
namespace r {

// Held for the call that it was made for; or a part of R's object of the model. Such a function may
// know that object, and R's collector is to see the circle.
class ModelFunction {
 public:
  explicit ModelFunction(SEXP function) : held_(function) {}
  SEXP get() const { return part_ ? part_->get() : held_.get(); }
  void give_to(SEXP owner) {
    part_ = std::make_unique<PartOf>(owner, held_.get());
    held_.reset(R_NilValue);
  }

 private:
  Held held_;
  std::unique_ptr<PartOf> part_;
};
using ModelFunctionPtr = std::shared_ptr<ModelFunction>;

// A function of what the input function returned (ModelInput::given) and of the mode.
ModelFn custom_model_from_r(const ModelFunctionPtr& function);

}  // namespace r
}  // namespace runhooks
