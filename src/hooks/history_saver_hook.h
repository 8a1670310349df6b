// What lives here: HistorySaverHook and History, the losses of a run as data.
// Who may use it: estimators, the bindings.
// What it must not know: how a history is printed or plotted, R.
#pragma once

#include <vector>

#include "hooks/hook_registry.h"

namespace runhooks {

// One entry a record; it grows while the loop runs, so an interrupted run leaves what it has seen.
struct History {
  std::vector<double> mean_losses, total_losses;
  std::vector<double> steps;  // global steps
};

// Records at the first run of the loop and at each multiple of `every_n_step`: mean and sum of the
// first tensor of the collection `losses`, and the global step after the run.
class HistorySaverHook : public RunHook {
 public:
  explicit HistorySaverHook(const Args& args);
  std::string name() const override { return "HistorySaverHook"; }
  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext& context) override;
  void after_run(RunContext& context, const RunValues& values) override;

  const std::shared_ptr<History>& history() const { return history_; }

 private:
  int64_t every_n_step_;
  int64_t runs_ = 0;
  bool has_loss_ = false;
  bool is_due_ = false;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<History> history_ = std::make_shared<History>();
};

}  // namespace runhooks
