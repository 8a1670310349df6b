// FinalOpsHook: computes tensors once after a loop ended normally.
#pragma once

#include <vector>

#include "hooks/hook_registry.h"

namespace runhooks {

class FinalOpsHook : public RunHook {
 public:
  explicit FinalOpsHook(const Args& args);
  explicit FinalOpsHook(std::vector<Fetch> ops) : ops_(std::move(ops)) {}
  std::string name() const override { return "FinalOpsHook"; }

  void after_create_session(Session& session, Coordinator&) override;
  void end(Session& session) override;

  // Returns the values of the ops; empty until the loop ends.
  const std::vector<Tensor>& values() const { return values_; }

 private:
  std::shared_ptr<ValueList> requested_ops_;
  std::shared_ptr<FeedSource> feed_source_;
  std::shared_ptr<Callable> store_;
  std::vector<Fetch> ops_;
  std::vector<Tensor> values_;
};

}  // namespace runhooks
