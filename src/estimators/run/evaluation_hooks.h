// Declares the hook that stops an evaluation after a number of batches.
#pragma once

#include "session/run_hook.h"

namespace runhooks {

class StopAfterNEvalsHook : public RunHook {
 public:
  explicit StopAfterNEvalsHook(int64_t num_evals) : num_evals_(num_evals) {}
  std::string name() const override { return "_StopAfterNEvalsHook"; }
  void begin(Graph&) override { runs_ = 0; }
  void after_run(RunContext& context, const RunValues& values) override;

 private:
  int64_t num_evals_;
  int64_t runs_ = 0;
};

}  // namespace runhooks
