#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/log.h"
#include "base/number_text.h"
#include "estimators/replicas/replica_evaluation.h"
#include "estimators/run/active_training.h"
#include "estimators/run/estimator.h"
#include "estimators/run/evaluation_hooks.h"
#include "estimators/run/run_record.h"
#include "hooks/final_ops_hook.h"
#include "hooks/value_format.h"
#include "io/events/recorded_evaluations.h"
#include "io/files/atomic_file.h"
#include "nn/metric.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

// Returns the metrics that are single numbers. Omits the last element, the global step.
std::vector<std::pair<std::string, double>> number_metrics(const Named<Tensor>& result) {
  std::vector<std::pair<std::string, double>> numbers;
  for (size_t i = 0; i + 1 < result.size(); ++i) {
    const Tensor& value = result[i].second;
    const bool is_number = is_numeric(value.dtype()) && value.shape().rank() == 0;
    if (is_number) numbers.emplace_back(result[i].first, value.number_at(0));
  }
  return numbers;
}

void write_evaluation(EventFileWriter& writer,
                      const Named<Tensor>& result,
                      const std::vector<std::pair<std::string, double>>& numbers,
                      int64_t step,
                      const std::string& checkpoint) {
  std::vector<std::string> texts;
  for (const auto& entry : result)
    texts.push_back(entry.first + " = " + format_value(entry.second));
  std::sort(texts.begin(), texts.end());
  log(LogLevel::kInfo, str_cat("Saving dict for global step ", step, ": ", str_join(texts, ", ")));
  Summary metrics;
  for (const auto& entry : numbers) metrics.push_back(scalar_summary(entry.first, entry.second));
  writer.add_summary(metrics, step);
  writer.flush();  // other processes may be waiting for evaluations
  count_evaluation();
  if (checkpoint.empty()) return;
  log(LogLevel::kInfo,
      str_cat("Saving 'checkpoint_path' summary for global step ", step, ": ", checkpoint));
  SummaryValue path;
  path.tag = "checkpoint_path";
  path.value = Tensor::string_scalar(checkpoint);
  writer.add_summary({path}, step);
}

void log_evaluation_end(double seconds) {
  log(LogLevel::kInfo, format_text("Inference Time : %.5fs", seconds));
  log(LogLevel::kInfo,
      "Finished evaluation at " + local_time_text(now_seconds(), "%Y-%m-%d-%H:%M:%S"));
}

}  // namespace

Evaluation::Evaluation(std::shared_ptr<Graph> graph, EstimatorSpec spec)
    : graph_(std::move(graph)), spec_(std::move(spec)) {
  graph_->add_to_collection(collection_keys::kLosses, spec_.loss);
  metrics_ = spec_.eval_metric_ops;
  metrics_.emplace_back("loss", mean_metric(*graph_, spec_.loss, Output(), "mean"));
  std::sort(metrics_.begin(), metrics_.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Operation*> updates;
  for (const auto& metric : metrics_) updates.push_back(metric.second.update);
  run_args_.fetches = {graph_->group(updates)};
}

bool Evaluation::distribute() {
  is_distributed_ = metrics_are_sums(*graph_, metrics_);
  return is_distributed_;
}

Named<Tensor> Evaluation::run(const EvaluateOptions& options,
                              const std::string& checkpoint,
                              const std::function<void(Session&)>& init_fn) {
  if (init_fn) spec_.scaffold->init_fn = init_fn;
  return run(options,
             std::make_unique<ChiefSessionCreator>(graph_, spec_.scaffold, "", checkpoint));
}

Named<Tensor> Evaluation::run(const EvaluateOptions& options,
                              std::unique_ptr<SessionCreator> creator) {
  std::vector<Fetch> values;
  for (const auto& metric : metrics_) values.push_back(metric.second.value);
  values.push_back(global_step(*graph_)->snapshot);
  HookList hooks = options.hooks;
  if (options.steps > 0) hooks.push_back(std::make_shared<StopAfterNEvalsHook>(options.steps));
  hooks.insert(hooks.end(), spec_.evaluation_hooks.begin(), spec_.evaluation_hooks.end());
  if (is_distributed_) hooks.push_back(sum_metrics_hook());
  const auto final_ops = std::make_shared<FinalOpsHook>(values);
  hooks.push_back(final_ops);
  log(LogLevel::kInfo,
      "Starting evaluation at " + local_time_text(now_seconds(), "%Y-%m-%dT%H:%M:%S"));
  const double start = now_seconds();
  MonitoredSession session(graph_, std::move(creator), hooks);
  run_block(session, [&] {
    while (!session.should_stop()) session.run(run_args_);
  });
  log_evaluation_end(now_seconds() - start);
  Named<Tensor> result;
  for (size_t i = 0; i < metrics_.size(); ++i) {
    result.emplace_back(metrics_[i].first, final_ops->values()[i]);
  }
  result.emplace_back("global_step", final_ops->values().back());
  return result;
}

std::shared_ptr<EventFileWriter> Evaluation::writer(const std::string& model_dir,
                                                    const std::string& name) {
  const std::string folder = name.empty() ? "eval" : "eval_" + name;
  return summary_writer(join_path(model_dir, folder), *graph_, EventFileGraph::kThis);
}

void Evaluation::write(const std::string& model_dir,
                       const std::string& name,
                       const Named<Tensor>& metrics,
                       const std::string& checkpoint) {
  try {
    const auto file = writer(model_dir, name);
    ActiveTraining::keep_open(model_dir, file);
    const auto step = static_cast<int64_t>(metrics.back().second.number_at(0));
    const auto numbers = number_metrics(metrics);
    write_evaluation(*file, metrics, numbers, step, checkpoint);
    record_evaluation(model_dir, name, step, numbers);
  } catch (const Error& error) {
    // A read-only model directory does not prevent evaluation.
    if (error.code() != Code::kPermissionDenied) throw;
    warn("permission_denied", "Could not save the evaluation. " + error.message());
  }
}

}  // namespace runhooks
