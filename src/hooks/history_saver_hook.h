// HistorySaverHook: records the losses and other values of a run as data.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/input_progress.h"
#include "hooks/hook_registry.h"
#include "session/reusable_session_hook.h"

namespace runhooks {

// Name of the endpoint (graph/endpoints.h) of graphs that train on several processes. Its tensor
// holds the sum of the losses of all processes in a step, and their number.
constexpr const char* kReplicaLosses = "losses_of_all";
// Names of the endpoints that hold the losses of the examples, and their weights if there are any.
// The key of each tensor is the name of the evaluation metric that is its mean.
constexpr const char* kExampleLosses = "example_losses";
constexpr const char* kExampleWeights = "example_weights";

// The recorded values: columns of equal length, with one entry per record.
struct History {
  std::vector<double> mean_losses, total_losses;
  std::vector<double> steps;  // global steps
  struct Column {
    std::string name;
    std::vector<double> values;  // means over the elements of the tensor
  };
  std::vector<Column> metrics;  // "average_loss" and "loss", as evaluations name them
  std::vector<Column> tensors;
  // For each record, the rows read and the seconds passed since the loop began, and how many of
  // these seconds the steps waited for rows. Empty without a dataset.
  std::vector<double> rows, seconds, waited;
};

// Records the first run of the loop, and then every `every_n_step` runs. A record contains the
// average loss of the examples, the loss of the model and the mean of each of `tensors`. It also
// contains the global step after the run. Like tfestimators, it also contains the mean and the sum
// of the first tensor in the collection `losses`.
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
  std::vector<std::pair<std::string, Value>> requested_tensors_;
  std::vector<bool> is_weighted_;  // for each metric, whether its weights are fetched, too
  int64_t num_runs_ = 0;
  bool has_loss_ = false, loss_is_replica_sum_ = false;
  bool is_due_ = false;
  InputTimer timer_;
  GlobalStep step_;
  RunArgs run_args_;
  std::shared_ptr<History> history_ = std::make_shared<History>();
};

}  // namespace runhooks
