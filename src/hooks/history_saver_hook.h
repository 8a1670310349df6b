// What lives here: HistorySaverHook and History, the losses of a run as data.
// Who may use it: estimators, the bindings.
// What it must not know: how a history is printed or plotted, R.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/input_progress.h"
#include "hooks/hook_registry.h"
#include "session/reusable_session_hook.h"

namespace runhooks {

// An endpoint, where several processes train: the sum of the losses of a step, and their number.
constexpr const char* kLossesOfAll = "losses_of_all";

// One entry a record; it grows while the loop runs, so an interrupted run leaves what it has seen.
struct History {
  std::vector<double> mean_losses, total_losses;
  std::vector<double> steps;  // global steps
  struct Column {
    std::string name;
    std::vector<double> values;  // means over the elements of the tensor
  };
  std::vector<Column> tensors;
  // Of the input, where it is a dataset: rows read since the loop began, the seconds since then,
  // and how many of these the steps have waited for rows.
  std::vector<double> rows, seconds, waited;
};

// Records at the first run of the loop and at each multiple of `every_n_step`: mean and sum of the
// first tensor of the collection `losses`, the mean of each of the `tensors` that are asked for,
// and the global step after the run.
class HistorySaverHook : public RunHook, public ReusableSessionHook {
 public:
  explicit HistorySaverHook(const Args& args);
  std::string name() const override { return "HistorySaverHook"; }
  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext& context) override;
  void after_run(RunContext& context, const RunValues& values) override;

  const std::shared_ptr<History>& history() const { return history_; }
  // Records into this one, which may be read at any time.
  void set_history(std::shared_ptr<History> history) { history_ = std::move(history); }

 private:
  void record_input(Session& session);

  int64_t every_n_step_;
  std::vector<std::pair<std::string, Value>> tensors_;
  int64_t runs_ = 0;
  bool has_loss_ = false, is_of_all_ = false;
  bool is_due_ = false;
  InputTimer meter_;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<History> history_ = std::make_shared<History>();
};

}  // namespace runhooks
