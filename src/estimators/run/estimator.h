// Estimator: trains, evaluates, predicts and exports a model function in a model directory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/resume_mismatch.h"
#include "estimators/models/model_fn.h"
#include "estimators/models/warm_start.h"
#include "estimators/run/model_graph_cache.h"
#include "hooks/checkpoint_saver_hook.h"
#include "io/events/event_file.h"
#include "io/files/plain_fields.h"
#include "monitored/monitored_session.h"
#include "training/saved_step.h"

namespace runhooks {

// tf.estimator.RunConfig, without the fields for clusters. A count of 0 disables a feature.
struct RunConfig {
  std::string model_dir;
  bool has_seed = false;
  int64_t tf_random_seed = 0;
  int64_t save_summary_steps = 100;
  int64_t save_checkpoints_steps = 0;
  double save_checkpoints_secs = 600;
  int64_t keep_checkpoint_max = 5;
  double keep_checkpoint_every_n_hours = 10000;
  int64_t log_step_count_steps = 100;
  // Not in TensorFlow: checkpoints contain the positions of the input and the random generators.
  bool checkpoint_input_pipeline = false;
  ResumeMismatch on_other_data = ResumeMismatch::kStop;
  int replicas = 1;
  bool sync_batch_norm = false;
};

struct ServingReceiver;
struct ExportOptions;
// Builds the inputs of an exported model (estimators/export/export.h).
using ReceiverFn = std::function<ServingReceiver(Graph&)>;

using InputFn = std::function<ModelInput(Graph&, Mode)>;

struct TrainOptions {
  int64_t steps = 0;      // number of steps; 0: no limit
  int64_t max_steps = 0;  // maximum global step; 0: no limit
  HookList hooks;
  std::vector<ListenerPtr> saving_listeners;
  bool keeps_events = false;  // keep event files next to the checkpoints instead of in logs/
  // Initial values for the first training; may be NULL.
  std::shared_ptr<WarmStart> warm_start;
  PlainFields about;  // written to the run log
};

struct EvaluateOptions {
  int64_t steps = 0;            // 0: until the input ends
  std::string checkpoint_path;  // "": the newest
  std::string name;
  HookList hooks;
  // For distributed evaluation: the input with all rows, used if the metrics of shards cannot be
  // summed. Empty if a single process evaluates.
  InputFn whole_input;
};

struct PredictOptions {
  std::string checkpoint_path;
  std::vector<std::string> predict_keys;  // empty: all predictions
  HookList hooks;
  bool reads_all = false;       // the caller reads all batches in order
  bool is_distributed = false;  // each process predicts its shard of the input
};

// Iterates over the batches of predictions.
class Predictions {
 public:
  Predictions(std::unique_ptr<MonitoredSession> session, Named<Output> outputs);
  ~Predictions();
  // Sets the values of the next batch, in the order of keys(). Returns false at the end.
  bool next(std::vector<Tensor>* batch);
  const std::vector<std::string>& keys() const { return keys_; }
  void close();

 private:
  std::unique_ptr<MonitoredSession> session_;
  std::vector<std::string> keys_;
  RunArgs run_args_;
};

// The graph of an evaluation, which can run several times.
class Evaluation {
 public:
  Evaluation(std::shared_ptr<Graph> graph, EstimatorSpec spec);
  // Returns the metrics sorted by name, followed by "global_step". If `checkpoint` is "", `init_fn`
  // initializes the variables.
  Named<Tensor> run(const EvaluateOptions& options,
                    const std::string& checkpoint,
                    const std::function<void(Session&)>& init_fn = {});
  Named<Tensor> run(const EvaluateOptions& options, std::unique_ptr<SessionCreator> creator);
  // Switches to distributed evaluation. Returns false if the metrics of processes cannot be summed.
  bool distribute();
  std::shared_ptr<EventFileWriter> writer(const std::string& model_dir, const std::string& name);
  void write(const std::string& model_dir,
             const std::string& name,
             const Named<Tensor>& metrics,
             const std::string& checkpoint);

 private:
  std::shared_ptr<Graph> graph_;
  EstimatorSpec spec_;
  Named<Metric> metrics_;
  RunArgs run_args_;
  bool is_distributed_ = false;
};

class RunRecorder;

class Estimator {
 public:
  Estimator(ModelFn model_fn, RunConfig config, std::shared_ptr<ModelGraphCache> cache = nullptr)
      : model_fn_(std::move(model_fn)), config_(std::move(config)), cache_(std::move(cache)) {}
  const RunConfig& config() const { return config_; }

  struct TrainResult {
    bool was_skipped = false;  // max_steps was already reached
    bool made_steps = false;
    Tensor loss;  // the loss of the last step
    int64_t global_step = 0;
    std::string why, reason;  // why training ended; see RunEnd (run_record.h)
  };
  TrainResult train(const InputFn& input_fn, const TrainOptions& options);
  Named<Tensor> evaluate(const InputFn& input_fn, EvaluateOptions options);
  std::unique_ptr<Evaluation> make_evaluation(const InputFn& input_fn) const;
  std::unique_ptr<Predictions> predict(const InputFn& input_fn, PredictOptions options);
  // Writes a SavedModel of the trained model to `folder`, which must be empty or not exist.
  void export_saved_model(const ReceiverFn& receiver_fn,
                          const ExportOptions& options,
                          const std::string& folder) const;
  // Number of model function calls in this process; lint: allow caller (tests count them)
  static int64_t num_built();

 private:
  using Built = ModelGraph;
  // build() builds the graph in two parts: the global step and the input, then the model.
  Built build_input(const InputFn& input_fn, Mode mode) const;
  void build_model(Built& built, Mode mode) const;
  Built build(const InputFn& input_fn, Mode mode) const;
  // Takes a graph from the cache or builds one. `is_reusable` allows both taking from the cache and
  // returning to it.
  std::unique_ptr<ModelGraph> graph_for(const InputFn& input_fn, Mode mode, bool is_reusable) const;
  // Returns the graph that evaluates this process's shard of the input. NULL if the input is not
  // sharded or the metrics cannot be summed.
  std::unique_ptr<ModelGraph> shard_graph(const InputFn& input_fn) const;
  std::unique_ptr<SessionCreator> session_creator(std::unique_ptr<ModelGraph> model,
                                                  const std::string& checkpoint) const;
  HookList training_hooks(const Built& built,
                          const TrainOptions& options,
                          const HookList& limits) const;
  TrainResult train_in(RunRecorder& recorder, const InputFn& input_fn, const TrainOptions& options);
  std::string checkpoint_for(const std::string& checkpoint_path, const char* purpose) const;
  bool is_cacheable(const std::string& checkpoint_path, const HookList& hooks) const;

  ModelFn model_fn_;
  RunConfig config_;
  std::shared_ptr<ModelGraphCache> cache_;
};

}  // namespace runhooks
