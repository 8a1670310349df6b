#include "estimators/run/estimator.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "base/suggestions.h"
#include "cluster/communicator.h"
#include "data/iterator_rebind.h"
#include "estimators/replicas/replica_graph.h"
#include "estimators/replicas/replica_run.h"
#include "estimators/run/active_training.h"
#include "estimators/run/resumable_run.h"
#include "estimators/run/run_folder.h"
#include "estimators/run/run_recorder.h"
#include "graph/endpoints.h"
#include "hooks/summary_saver_hook.h"
#include "hooks/value_format.h"
#include "io/files/atomic_file.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

HookPtr hook_with(const char* type,
                  std::initializer_list<std::pair<const char*, Value>> arguments) {
  Args args(type);
  for (const auto& argument : arguments) args.set(argument.first, argument.second);
  return make_hook(type, args);
}

void append(HookList& hooks, const HookList& more) {
  hooks.insert(hooks.end(), more.begin(), more.end());
}

std::shared_ptr<CheckpointSaverHook> find_saver_hook(const HookList& hooks) {
  for (const HookPtr& hook : hooks) {
    if (auto saver = std::dynamic_pointer_cast<CheckpointSaverHook>(hook)) return saver;
  }
  return nullptr;
}

HookPtr summary_hook(const RunConfig& config, const std::shared_ptr<Scaffold>& scaffold) {
  Args args("SummarySaverHook");
  args.set("save_steps", Value::of(config.save_summary_steps));
  args.set("output_dir", Value::of(config.model_dir));
  return std::make_shared<SummarySaverHook>(args, scaffold);
}

void add_loss_summary(Graph& graph, Output loss) {
  for (const CollectionItem& item : graph.collection(collection_keys::kSummaries)) {
    const auto* summary = std::get_if<Output>(&item);
    if (summary && summary->op->name() == "loss") return;
  }
  add_scalar_summary(graph, "loss", loss);
}

int64_t times_built = 0;

HookList step_limits(const TrainOptions& options) {
  HookList limits;
  if (options.steps > 0) {
    limits.push_back(hook_with("StopAtStepHook", {{"num_steps", Value::of(options.steps)}}));
  }
  if (options.max_steps > 0) {
    limits.push_back(hook_with("StopAtStepHook", {{"last_step", Value::of(options.max_steps)}}));
  }
  return limits;
}

// Copies the loss of the last step, because a run that reaches the end of the data overwrites it.
// Reuses the memory of `target` if possible.
void copy_value(const Tensor& value, Tensor* target) {
  const bool fits = target->is_valid() && target->dtype() == value.dtype() &&
                    target->shape() == value.shape() && value.dtype() != DType::kString;
  if (fits) {
    std::memcpy(target->raw(), value.raw(), value.num_bytes());
  } else {
    *target = value.copy();
  }
}

// Returns the hooks for processes other than the chief. Removes hooks that show or write something,
// except `saver`, which saves to the model directory of the process.
HookList replica_hooks(HookList hooks, const HookPtr& saver = nullptr) {
  const auto removed = std::remove_if(hooks.begin(), hooks.end(), [&saver](const HookPtr& hook) {
    return hook->is_for_chief() && hook != saver;
  });
  hooks.erase(removed, hooks.end());
  return hooks;
}

void add_endpoints(Graph& graph, const ModelInput& input, const EstimatorSpec& spec) {
  if (spec.loss) add_endpoint(graph, "loss", "", spec.loss);
  for (const auto& entry : spec.predictions) {
    add_endpoint(graph, "predictions", entry.first, entry.second);
  }
  if (input.labels) add_endpoint(graph, "labels", "", input.labels);
  for (const auto& entry : input.named_labels)
    add_endpoint(graph, "labels", entry.first, entry.second);
}

void add_rate_summaries(Graph& graph) {
  const EndpointTensors& rates = endpoint(graph, "learning_rate");
  for (const auto& rate : rates) {
    if (rate.second.op->def().is_constant) continue;
    add_scalar_summary(graph, rates.size() == 1 ? "learning_rate" : "learning_rate/" + rate.first,
                       rate.second);
  }
}

}  // namespace

int64_t Estimator::num_built() { return times_built; }

Estimator::Built Estimator::build_input(const InputFn& input_fn, Mode mode) const {
  Built built;
  built.graph = std::make_shared<Graph>();
  if (config_.has_seed) built.graph->set_seed(config_.tf_random_seed);
  get_or_create_global_step(*built.graph);
  const int step_version = built.graph->version();
  built.input = input_fn(*built.graph, mode);
  built.key = key_of_input(*built.graph, built.input, mode, step_version);
  return built;
}

void Estimator::build_model(Built& built, Mode mode) const {
  ++times_built;
  log(LogLevel::kInfo, "Calling model_fn.");
  built.spec = model_fn_(*built.graph, built.input, mode);
  log(LogLevel::kInfo, "Done calling model_fn.");
  check_spec(built.spec, *built.graph);
  // Accepts a loss of shape [1], like TensorFlow.
  Output& loss = built.spec.loss;
  if (loss && loss.shape().has_rank() && loss.shape().rank() == 1) {
    loss = built.graph->op("Reshape", {loss, built.graph->constant(Tensor(DType::kInt32, {0}))});
  }
  if (ReplicaScope* replicas = ReplicaScope::of(*built.graph)) {
    check_collectives(*replicas, built.spec);
    built.collective_op = replicas->last();
  }
  add_endpoints(*built.graph, built.input, built.spec);
  if (!built.spec.scaffold) built.spec.scaffold = std::make_shared<Scaffold>();
  if (!built.spec.scaffold->saver) {
    SaverOptions options;
    options.max_to_keep = config_.keep_checkpoint_max;
    options.keep_checkpoint_every_n_hours = config_.keep_checkpoint_every_n_hours;
    options.save_relative_paths = true;
    built.spec.scaffold->saver = std::make_shared<Saver>(options);
  }
}

Estimator::Built Estimator::build(const InputFn& input_fn, Mode mode) const {
  const bool is_single_process = config_.replicas == 1 || mode != Mode::kTrain;
  std::unique_ptr<ReplicaScope> scope;
  Built built = build_input(
      is_single_process ? input_fn : input_of_replicas(input_fn, config_, &scope), mode);
  build_model(built, mode);
  return built;
}

std::unique_ptr<ModelGraph> Estimator::graph_for(const InputFn& input_fn,
                                                 Mode mode,
                                                 bool is_reusable) const {
  auto new_graph = std::make_unique<ModelGraph>(build_input(input_fn, mode));
  if (!is_reusable) new_graph->key.clear();
  if (!new_graph->key.empty()) {
    if (auto cached = cache_->take(new_graph->key)) {
      cached->rows = dataset_of(rows_of_input(*new_graph->graph));
      cached->rows_graph = new_graph->graph;
      log_model_fn_call();
      return cached;
    }
  }
  build_model(*new_graph, mode);
  // Hooks from the model function may contain the state of a run, so the graph cannot be reused.
  if (!new_graph->spec.evaluation_hooks.empty() || !new_graph->spec.prediction_hooks.empty()) {
    new_graph->key.clear();
  }
  return new_graph;
}

std::unique_ptr<SessionCreator> Estimator::session_creator(std::unique_ptr<ModelGraph> model,
                                                           const std::string& checkpoint) const {
  if (!model->key.empty()) return cache_->session_creator(std::move(model), checkpoint);
  return std::make_unique<ChiefSessionCreator>(model->graph, model->spec.scaffold, "", checkpoint);
}

// TensorFlow's order: saver, chief hooks, steps per second, summaries, hooks of the user, step
// limits, NaN check, logging, hooks of the model.
HookList Estimator::training_hooks(const Built& built,
                                   const TrainOptions& options,
                                   const HookList& limits) const {
  const EstimatorSpec& spec = built.spec;
  const bool is_chief = config_.replicas == 1 || communicator().is_chief();
  const HookList user_hooks = is_chief ? options.hooks : replica_hooks(options.hooks);
  HookList candidates = user_hooks;
  append(candidates, spec.training_hooks);
  if (is_chief) append(candidates, spec.training_chief_hooks);
  std::shared_ptr<CheckpointSaverHook> saver = find_saver_hook(candidates);
  HookList hooks;
  if (!saver && (config_.save_checkpoints_steps > 0 || config_.save_checkpoints_secs > 0)) {
    const bool by_steps = config_.save_checkpoints_steps > 0;
    saver = std::static_pointer_cast<CheckpointSaverHook>(
        hook_with("CheckpointSaverHook", {{"checkpoint_dir", Value::of(config_.model_dir)},
                                          {by_steps ? "save_steps" : "save_secs",
                                           by_steps ? Value::of(config_.save_checkpoints_steps)
                                                    : Value::of(config_.save_checkpoints_secs)}}));
    hooks.push_back(saver);
  }
  if (saver && config_.replicas > 1) {
    if (hooks.empty()) {
      throw Error(Code::kUnimplemented,
                  "A checkpoint saver hook of your own cannot be used in distributed training: it "
                  "would save the state of one process only.",
                  {"Set the interval with run_config(save_checkpoints_steps = )."});
    }
    saver->save_with_peers();
  }
  if (saver && !saver->has_scaffold()) saver->set_scaffold(spec.scaffold);
  if (!saver && config_.checkpoint_input_pipeline) {
    invalid_argument(
        "checkpoint_input_pipeline = TRUE needs checkpoints. Please set one of the "
        "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.");
  }
  if (!saver && !options.saving_listeners.empty()) {
    invalid_argument(
        "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
        "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs.");
  }
  for (const ListenerPtr& listener : options.saving_listeners) saver->add_listener(listener);
  if (is_chief) append(hooks, spec.training_chief_hooks);
  if (config_.log_step_count_steps > 0) {
    hooks.push_back(
        hook_with("StepCounterHook", {{"every_n_steps", Value::of(config_.log_step_count_steps)},
                                      {"output_dir", Value::of(config_.model_dir)}}));
  }
  if (config_.save_summary_steps > 0) hooks.push_back(summary_hook(config_, spec.scaffold));
  append(hooks, user_hooks);
  append(hooks, limits);
  // Unlike TensorFlow, also fails on an infinite loss, from which training cannot recover.
  hooks.push_back(hook_with("NanTensorHook", {{"loss_tensor", Value::of(spec.loss)},
                                              {"with_infinite", Value::of(true)}}));
  if (config_.log_step_count_steps > 0) {
    auto tensors = std::make_shared<Args>("LoggingTensorHook");
    tensors->set("loss", Value::of(spec.loss));
    tensors->set("step", Value::of(global_step(*built.graph)->snapshot));
    hooks.push_back(
        hook_with("LoggingTensorHook", {{"tensors", Value::of(tensors)},
                                        {"every_n_iter", Value::of(config_.log_step_count_steps)},
                                        {"asked_for", Value::of(false)}}));
  }
  append(hooks, spec.training_hooks);
  return is_chief ? hooks : replica_hooks(hooks, saver);
}

Estimator::TrainResult Estimator::train(const InputFn& input_fn, const TrainOptions& options) {
  const TrainingDirGuard folder(config_.model_dir, options.keeps_events);
  const int64_t from_step = saved_global_step(config_.model_dir);
  RunRecorder run(config_, from_step, options);
  if (options.max_steps > 0 && options.max_steps <= from_step) {
    log(LogLevel::kInfo, "Skipping training since max_steps has already saved.");
    run.skip();
    TrainResult result;
    result.global_step = from_step;
    result.was_skipped = true;
    return result;
  }
  try {
    TrainResult result = train_in(run, input_fn, options);
    const RunEnd& end = run.end();
    result.why = end.why;
    result.reason = end.reason;
    return result;
  } catch (...) {
    run.fail();
    throw;
  }
}

Estimator::TrainResult Estimator::train_in(RunRecorder& recorder,
                                           const InputFn& input_fn,
                                           const TrainOptions& options) {
  TrainResult result;
  Built built = build(input_fn, Mode::kTrain);
  if (options.warm_start) options.warm_start->apply(*built.graph, *built.spec.scaffold);
  built.graph->add_to_collection(collection_keys::kLosses, built.spec.loss);
  add_loss_summary(*built.graph, built.spec.loss);
  add_rate_summaries(*built.graph);
  const bool has_peers = config_.replicas > 1;
  save_random_positions(*built.graph, {built.spec.train_op.op, built.spec.loss.op},
                        config_.replicas);
  if (config_.checkpoint_input_pipeline) {
    save_input_positions(*built.graph, config_.on_other_data, config_.replicas);
  }
  if (has_peers) check_same_graph(*built.graph);
  RunArgs run_args;
  run_args.fetches = {built.spec.train_op, Fetch(built.spec.loss)};
  if (built.collective_op) run_args.fetches.push_back(built.collective_op);
  HookList limits = step_limits(options);
  HookList hooks = training_hooks(built, options, limits);
  hooks.push_back(recorder.hook());
  if (has_peers) hooks.insert(hooks.begin(), replica_hook());
  MonitoredOptions monitored;
  monitored.has_peers = has_peers;
  MonitoredSession session(
      built.graph,
      std::make_unique<ChiefSessionCreator>(built.graph, built.spec.scaffold, config_.model_dir),
      std::move(hooks), monitored);
  const ActiveTraining running(config_.model_dir, session);
  recorder.begin(session, std::move(limits));
  bool was_stopped = false;
  const struct SetEnd {
    RunRecorder& recorder;
    MonitoredSession& session;
    const bool& was_stopped;
    ~SetEnd() { recorder.set_end(session.stop_cause(), !was_stopped); }
  } set_end{recorder, session, was_stopped};
  run_block(session, [&] {
    while (!session.should_stop()) {
      const Executor& run = session.run(run_args);
      result.made_steps = true;
      copy_value(run.result(1), &result.loss);
    }
    was_stopped = true;
    if (!result.made_steps) {
      warn("no_steps",
           "Training with estimator made no steps. Perhaps input is empty or misspecified.");
    }
  });
  result.global_step = recorder.step();
  if (!result.made_steps && config_.checkpoint_input_pipeline && result.global_step > 0) {
    log_always(LogLevel::kInfo,
               str_cat("No steps were made: the input ended at step ", result.global_step,
                       ", and checkpoint_input_pipeline = TRUE resumes it there."));
  }
  log(LogLevel::kInfo, str_cat("Loss for final step: ", format_value(result.loss), "."));
  return result;
}

std::string Estimator::checkpoint_for(const std::string& checkpoint_path,
                                      const char* purpose) const {
  if (!checkpoint_path.empty()) return checkpoint_path;
  const std::string cached = cache_ ? cache_->checkpoint_in(config_.model_dir) : "";
  if (!cached.empty()) return cached;
  const std::string newest = newest_weights(config_.model_dir, CheckpointCheck::kContent);
  if (newest.empty()) {
    log(LogLevel::kInfo, str_cat("Could not find trained model in model_dir: ", config_.model_dir,
                                 ", running initialization to ", purpose, "."));
  }
  if (cache_) cache_->set_checkpoint(config_.model_dir, newest);
  return newest;
}

// Only graphs of the newest checkpoint are cached, and only if no hook sees the graph or session.
bool Estimator::is_cacheable(const std::string& checkpoint_path, const HookList& hooks) const {
  return cache_ && cache_->has_checkpoint() && checkpoint_path.empty() && hooks_allow_reuse(hooks);
}

Named<Tensor> Estimator::evaluate(const InputFn& input_fn, EvaluateOptions options) {
  const std::string checkpoint = checkpoint_for(options.checkpoint_path, "evaluate");
  std::unique_ptr<ModelGraph> model;
  // Distributes the evaluation only if each process gets a batch.
  const int replicas = config_.replicas;
  const bool has_batch_for_each = options.steps == 0 || options.steps >= replicas;
  if (options.whole_input && has_batch_for_each) model = shard_graph(input_fn);
  if (model && options.steps > 0) {
    options.steps = (options.steps + replicas - 1 - communicator().rank()) / replicas;
  }
  if (!model) {
    model = graph_for(options.whole_input ? options.whole_input : input_fn, Mode::kEval,
                      is_cacheable(options.checkpoint_path, options.hooks));
  }
  if (!model->evaluation) {
    model->evaluation = std::make_shared<Evaluation>(model->graph, model->spec);
  }
  const std::shared_ptr<Evaluation> evaluation = model->evaluation;
  const Named<Tensor> metrics =
      evaluation->run(options, session_creator(std::move(model), checkpoint));
  evaluation->write(config_.model_dir, options.name, metrics, checkpoint);
  return metrics;
}

std::unique_ptr<ModelGraph> Estimator::shard_graph(const InputFn& input_fn) const {
  auto model =
      std::make_unique<ModelGraph>(build_input(with_shared_seed(input_fn, config_), Mode::kEval));
  model->key.clear();
  bool is_distributed = model->input.is_shard;
  if (is_distributed) {
    build_model(*model, Mode::kEval);
    model->evaluation = std::make_shared<Evaluation>(model->graph, model->spec);
    is_distributed = model->evaluation->distribute();
  }
  check_same_collective(is_distributed ? "evaluate() of a shard of the batches"
                                       : "evaluate() of all batches");
  return is_distributed ? std::move(model) : nullptr;
}

std::unique_ptr<Evaluation> Estimator::make_evaluation(const InputFn& input_fn) const {
  Built built = build(input_fn, Mode::kEval);
  return std::make_unique<Evaluation>(built.graph, std::move(built.spec));
}

std::unique_ptr<Predictions> Estimator::predict(const InputFn& input_fn, PredictOptions options) {
  const std::string checkpoint = checkpoint_for(options.checkpoint_path, "predict");
  const bool is_reusable =
      options.reads_all && is_cacheable(options.checkpoint_path, options.hooks);
  std::unique_ptr<ModelGraph> model =
      graph_for(options.is_distributed ? with_shared_seed(input_fn, config_) : input_fn,
                Mode::kPredict, is_reusable);
  Named<Output> outputs;
  std::vector<std::string> available;
  for (const auto& prediction : model->spec.predictions) {
    available.push_back(prediction.first);
    const auto& keys = options.predict_keys;
    if (keys.empty() || std::find(keys.begin(), keys.end(), prediction.first) != keys.end()) {
      outputs.push_back(prediction);
    }
  }
  if (outputs.empty()) {
    throw Error(
        Code::kInvalidArgument,
        str_cat("Expected to run at least one output from ", str_join(available, ", "),
                ", provided ", str_join(options.predict_keys, ", "), "."),
        did_you_mean(options.predict_keys.empty() ? "" : options.predict_keys[0], available));
  }
  HookList hooks = options.hooks;
  append(hooks, model->spec.prediction_hooks);
  const std::shared_ptr<Graph> graph = model->graph;
  auto session = std::make_unique<MonitoredSession>(
      graph, session_creator(std::move(model), checkpoint), hooks);
  return std::make_unique<Predictions>(std::move(session), std::move(outputs));
}

Predictions::Predictions(std::unique_ptr<MonitoredSession> session, Named<Output> outputs)
    : session_(std::move(session)) {
  for (const auto& output : outputs) {
    keys_.push_back(output.first);
    run_args_.fetches.push_back(output.second);
  }
}

Predictions::~Predictions() = default;

bool Predictions::next(std::vector<Tensor>* batch) {
  if (session_->is_closed()) return false;
  bool has_batch = false;
  auto step = [&] {
    if (session_->should_stop()) throw Error(Code::kStopIteration, "");
    const Executor& run = session_->run(run_args_);
    batch->clear();
    for (size_t i = 0; i < keys_.size(); ++i) batch->push_back(run.result(i));
    has_batch = true;
  };
  step_in_block(*session_, step);
  return has_batch;
}

void Predictions::close() { session_->close(); }

}  // namespace runhooks
