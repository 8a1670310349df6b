// What lives here: Estimator: a model function, a folder, and what is done with them: train, evaluate, predict.
// Who may use it: the bindings.
// What it must not know: any particular model, R.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "data/resume_mismatch.h"
#include "estimators/model_graph_cache.h"
#include "estimators/model_fn.h"
#include "estimators/warm_start.h"
#include "hooks/checkpoint_saver_hook.h"
#include "io/events/event_file.h"
#include "io/files/plain_fields.h"
#include "monitored/monitored_session.h"
#include "training/saved_step.h"

namespace runhooks {

// tf.estimator.RunConfig, as far as it has a meaning in one process. A count of 0 turns a thing
// off.
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
  // Ours: where input and random numbers stand is in the model's checkpoints.
  bool checkpoint_input_pipeline = false;
  ResumeMismatch on_other_data = ResumeMismatch::kStop;
  // So many processes train the model together, each on its part of the data.
  int replicas = 1;
  // Batch normalization has the moments of the batches of all of them.
  bool normalizes_together = false;
};

struct ServingReceiver;
struct ExportOptions;
// Builds what a served model is asked by (estimators/export.h).
using ReceiverFn = std::function<ServingReceiver(Graph&)>;

// Builds the tensors of features and labels in the graph.
using InputFn = std::function<ModelInput(Graph&, Mode)>;

struct TrainOptions {
  int64_t steps = 0;      // so many more; 0: not limited
  int64_t max_steps = 0;  // up to this global step; 0: not limited
  HookList hooks;
  std::vector<ListenerPtr> saving_listeners;
  bool leaves_events = false;  // the event files stay beside the checkpoints
  // Where a first training takes initial values from; may be missing.
  std::shared_ptr<WarmStart> warm_start;
  // What the record of the run is to say besides, by names.
  PlainFields about;
};

struct EvaluateOptions {
  int64_t steps = 0;            // 0: until the input ends
  std::string checkpoint_path;  // "": the newest
  std::string name;
  HookList hooks;
  // Several processes evaluate together, each what the input function gives it, or where that does
  // not add up all of this input; none: one process evaluates.
  InputFn whole_input;
};

struct PredictOptions {
  std::string checkpoint_path;
  std::vector<std::string> predict_keys;  // empty: all that the model gives
  HookList hooks;
  bool reads_all = false;  // the batches are read one after the other until they end
  bool together = false;   // each of several processes has its part of the input
};

// The batches of a prediction, computed as they are asked for.
class Predictions {
 public:
  Predictions(std::unique_ptr<MonitoredSession> session, Named<Output> outputs);
  ~Predictions();
  // The values of the next batch, in the order of keys(); FALSE at the end.
  bool next(std::vector<Tensor>* batch);
  const std::vector<std::string>& keys() const { return keys_; }
  // Ends it early: end() of the hooks is called.
  void close();

 private:
  std::unique_ptr<MonitoredSession> session_;
  std::vector<std::string> keys_;
  RunArgs run_args_;
};

// The graph of an evaluation, which may be run several times.
class Evaluation {
 public:
  Evaluation(std::shared_ptr<Graph> graph, EstimatorSpec spec);
  // Metrics by name, in the order of the names, "global_step" last. `init_fn` is called where no
  // checkpoint is given ("").
  Named<Tensor> run(const EvaluateOptions& options,
                    const std::string& checkpoint,
                    const std::function<void(Session&)>& init_fn = {});
  // The same in sessions that somebody else makes.
  Named<Tensor> run(const EvaluateOptions& options, std::unique_ptr<SessionCreator> creator);
  // From now on each of several processes makes its part; FALSE where parts do not add up.
  bool divide();
  // The event file of model_dir/eval or, with a name, eval_<name>.
  std::shared_ptr<EventFileWriter> writer(const std::string& model_dir,
                                          const std::string& name);
  void write(const std::string& model_dir,
             const std::string& name,
             const Named<Tensor>& metrics,
             const std::string& checkpoint);

 private:
  std::shared_ptr<Graph> graph_;
  EstimatorSpec spec_;
  Named<Metric> metrics_;
  RunArgs run_args_;
  bool is_divided_ = false;
};

class RunRecorder;

class Estimator {
 public:
  // `kept`: where graphs stay from call to call; NULL: nowhere.
  Estimator(ModelFn model_fn, RunConfig config, std::shared_ptr<ModelGraphCache> kept = nullptr)
      : model_fn_(std::move(model_fn)), config_(std::move(config)), kept_(std::move(kept)) {}
  const RunConfig& config() const { return config_; }

  struct TrainResult {
    bool was_skipped = false;  // max_steps had been reached before
    bool made_steps = false;
    Tensor loss;  // of the last step
    int64_t global_step = 0;
    std::string why, reason;  // it ended, in the words of RunEnd
  };
  TrainResult train(const InputFn& input_fn, const TrainOptions& options);
  // Metrics by name, in the order of the names, "global_step" last.
  Named<Tensor> evaluate(const InputFn& input_fn, EvaluateOptions options);
  std::unique_ptr<Evaluation> make_evaluation(const InputFn& input_fn) const;
  std::unique_ptr<Predictions> predict(const InputFn& input_fn, PredictOptions options);
  // Writes a SavedModel of a trained model into `folder`, which is made or must be empty.
  void export_saved_model(const ReceiverFn& receiver_fn,
                          const ExportOptions& options,
                          const std::string& folder) const;
  // How often a model function was called in this process; lint: allow caller (tests count them)
  static int64_t num_built();

 private:
  using Built = ModelGraph;
  // The graph with its step and its input, and the rest.
  Built begin(const InputFn& input_fn, Mode mode) const;
  void finish(Built& built, Mode mode) const;
  Built build(const InputFn& input_fn, Mode mode) const;
  // One that was kept, or a new one; `keeps`: it may serve another call.
  std::unique_ptr<ModelGraph> graph_for(const InputFn& input_fn, Mode mode, bool keeps) const;
  // That of a part of the rows; NULL where parts do not add up, or each process has all rows.
  std::unique_ptr<ModelGraph> graph_of_part(const InputFn& input_fn) const;
  std::unique_ptr<SessionCreator> session_creator(std::unique_ptr<ModelGraph> model,
                                                  const std::string& checkpoint) const;
  HookList training_hooks(const Built& built,
                          const TrainOptions& options,
                          const HookList& limits) const;
  TrainResult train_in(RunRecorder& recorded, const InputFn& input_fn, const TrainOptions& options);
  std::string checkpoint_for(const std::string& given, const char* purpose) const;
  bool is_cacheable(const std::string& checkpoint, const HookList& hooks) const;

  ModelFn model_fn_;
  RunConfig config_;
  std::shared_ptr<ModelGraphCache> kept_;
};

}  // namespace runhooks
