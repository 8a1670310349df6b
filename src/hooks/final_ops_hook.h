// What lives here: FinalOpsHook, which computes something once, when a loop has ended well.
// Who may use it: estimators, the bindings.
// What it must not know: what is computed, R.
#pragma once

#include <vector>

#include "hooks/hook_registry.h"

namespace runhooks {

class FinalOpsHook : public RunHook {
 public:
  // `final_ops`: a list of tensors, operations, variables or names; `feed_fn`: what to feed;
  // `store`: a function that is given the list of the values.
  explicit FinalOpsHook(const Args& args);
  explicit FinalOpsHook(std::vector<Fetch> ops) : ops_(std::move(ops)) {}
  std::string name() const override { return "FinalOpsHook"; }

  void after_create_session(Session& session, Coordinator&) override;
  void end(Session& session) override;

  // Empty until the loop has ended.
  const std::vector<Tensor>& values() const { return values_; }

 private:
  std::shared_ptr<ValueList> names_;
  std::shared_ptr<FeedSource> feed_source_;
  std::shared_ptr<Callable> store_;
  std::vector<Fetch> ops_;
  std::vector<Tensor> values_;
};

}  // namespace runhooks
