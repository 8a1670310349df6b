// Logs values of tensors at intervals (tf.train.LoggingTensorHook).
#include <algorithm>
#include <cstdio>

#include "base/log.h"
#include "base/number_text.h"
#include "hooks/hook_registry.h"
#include "hooks/run_at_end.h"
#include "hooks/value_format.h"

namespace runhooks {

namespace {

// `tensors` is a named list tag -> tensor or name, logged in the order of the tags, or a vector of
// names, logged in the given order.
class LoggingTensorHook : public RunHook {
 public:
  explicit LoggingTensorHook(const Args& args)
      : at_end_(args.flag("at_end", false)),
        // The hook that an estimator creates logs at level INFO. Lines of other hooks always
        // appear.
        always_logs_(args.flag("asked_for", true)),
        formatter_(args.callable("formatter")) {
    const bool has_iter = args.has("every_n_iter"), has_secs = args.has("every_n_secs");
    if ((has_iter && has_secs) || (!has_iter && !has_secs && !at_end_)) {
      invalid_argument(
          "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.");
    }
    if (has_iter && args.integer("every_n_iter") <= 0) {
      invalid_argument("invalid every_n_iter=", args.integer("every_n_iter"), ".");
    }
    trigger_ = trigger_of(args, "every_n_iter", "every_n_secs");
    const Value* tensors = args.find("tensors");
    if (tensors && tensors->get_if<std::shared_ptr<Args>>()) {
      for (const auto& item : args.args("tensors").items()) tensors_.push_back(item);
      std::stable_sort(tensors_.begin(), tensors_.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
    } else {
      for (const std::string& tag : args.texts("tensors")) {
        tensors_.emplace_back(tag, Value::of(tag));
      }
    }
  }
  std::string name() const override { return "LoggingTensorHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    trigger_.reset();
    num_runs_ = 0;
    run_args_.fetches.clear();
    for (const auto& tensor : tensors_) {
      run_args_.fetches.push_back(tensor_argument(graph, tensor.second));
    }
    run_args_.changed();
  }
  const RunArgs* before_run(RunContext&) override {
    is_due_ = trigger_.should_trigger(num_runs_);
    return is_due_ ? &run_args_ : nullptr;
  }
  void after_run(RunContext&, const RunValues& values) override {
    if (is_due_) {
      std::vector<Tensor> results;
      for (size_t i = 0; i < values.size(); ++i) results.push_back(values.result(i));
      log_values(results);
    }
    ++num_runs_;
  }
  void end(Session& session) override {
    if (at_end_) log_values(run_at_end(session, name(), run_args_.fetches));
  }

 private:
  void log_values(const std::vector<Tensor>& values) {
    const Trigger::Elapsed elapsed = trigger_.update(num_runs_);
    std::string line = formatter_ ? formatter_text(values) : default_text(values);
    if (!formatter_ && elapsed.is_known) {
      line += format_text(" (%.3f sec)", elapsed.secs);
    }
    if (always_logs_) {
      log_always(LogLevel::kInfo, line);
    } else {
      log(LogLevel::kInfo, line);
    }
  }
  std::string default_text(const std::vector<Tensor>& values) const {
    std::vector<std::string> parts;
    for (size_t i = 0; i < values.size(); ++i) {
      parts.push_back(tensors_[i].first + " = " + format_value(values[i]));
    }
    return str_join(parts, ", ");
  }
  std::string formatter_text(const std::vector<Tensor>& values) const {
    auto named = std::make_shared<Args>("the formatter");
    for (size_t i = 0; i < values.size(); ++i) {
      named->set(tensors_[i].first, Value::of(values[i].copy()));
    }
    const Value text = formatter_->call({Value::of(named)});
    if (!text.get_if<std::string>()) {
      invalid_argument("`formatter` of hook_logging_tensor() must return a string, not ",
                       text.kind(), ".");
    }
    return *text.get_if<std::string>();
  }

  bool at_end_, always_logs_;
  std::shared_ptr<Callable> formatter_;
  std::vector<std::pair<std::string, Value>> tensors_;
  Trigger trigger_;
  RunArgs run_args_;
  int64_t num_runs_ = 0;
  bool is_due_ = false;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    LoggingTensorHook,
    "hook_logging_tensor",
    {"tensors: tensors. A named list of tensors or tensor names, whose names are the tags (printed "
     "in alphabetical order), or a vector of tensor names (printed in the given order).",
     "every_n_iter = NULL: whole number. Log every `every_n_iter` local steps.",
     "every_n_secs = NULL: plain number. Log every `every_n_secs` seconds. Give exactly one of "
     "`every_n_iter` and `every_n_secs`, or neither with `at_end = TRUE`.",
     "formatter = NULL: function. A function that converts a named list of values to the line to "
     "log, or `NULL` for the default format.",
     "at_end = FALSE: flag. Also log once when the loop ends normally?", "asked_for = TRUE: flag"});

}  // namespace runhooks
