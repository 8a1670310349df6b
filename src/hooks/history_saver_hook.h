// HistorySaverHook: records the losses and other values of a run as data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/input_progress.h"
#include "hooks/hook_registry.h"
#include "session/reusable_session_hook.h"

namespace runhooks {

// Endpoint of a graph that trains on several processes: sum of the losses of a step, and count.
constexpr const char* kReplicaLosses = "losses_of_all";
// Endpoints of heads, keyed by the metric of evaluations that is their mean: the losses of the
// examples, and the weights, if there are any.
constexpr const char* kExampleLosses = "example_losses";
constexpr const char* kExampleWeights = "example_weights";

// Columns of equal length, one entry per record. The data of an interrupted run stay readable.
struct History {
  std::vector<double> mean_losses, total_losses;
  std::vector<double> steps;  // global steps
  struct Column {
    std::string name;
    std::vector<double> values;  // means over the elements of the tensor
  };
  std::vector<Column> metrics;  // "average_loss" and "loss", as evaluations name them
  std::vector<Column> tensors;
  // Dataset input only: rows read and seconds passed since the loop began, and the seconds that
  // steps waited for rows.
  std::vector<double> rows, seconds, waited;
};

// Records the first run of the loop and each multiple of `every_n_step`: the average loss of the
// examples, the loss of the model, mean and sum of the first tensor in the collection `losses` (as
// tfestimators does), the mean of each of `tensors`, and the global step after the run.
class HistorySaverHook : public RunHook, public ReusableSessionHook {
 public:
  explicit HistorySaverHook(const Args& args);
  std::string name() const override { return "HistorySaverHook"; }
  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext& context) override;
  void after_run(RunContext& context, const RunValues& values) override;

  const std::shared_ptr<History>& history() const { return history_; }
  void set_history(std::shared_ptr<History> history) { history_ = std::move(history); }

 private:
  void add_metrics(Graph& graph);
  void record_input(Session& session);

  int64_t every_n_step_;
  std::vector<std::pair<std::string, Value>> tensors_;
  std::vector<bool> is_weighted_;  // for each metric, whether its weights are fetched after it
  int64_t runs_ = 0;
  bool has_loss_ = false, sums_replicas_ = false;
  bool is_due_ = false;
  InputTimer timer_;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<History> history_ = std::make_shared<History>();
};

}  // namespace runhooks
