// Exports when an evaluation is better than all previous ones (tf.estimator.BestExporter).
#include "base/log.h"
#include "estimators/export/exporter.h"

namespace runhooks {

namespace {

class BestExporter : public Exporter {
 public:
  explicit BestExporter(const Args& args)
      : compare_fn_(args.callable("compare_fn")), pattern_(args.text("event_file_pattern", "")) {
    check_exports_to_keep(args, "a positive number", true);
  }

  bool should_export(const EvaluationResult& evaluation) override {
    const Value current = Value::of(evaluation.metrics);
    if (!pattern_.empty() && loaded_dir_ != evaluation.model_dir) load_best(evaluation);
    if (!best_.is_null() && !is_better(current)) return false;
    log(LogLevel::kInfo, "Performing best model export.");
    best_ = current;
    return true;
  }

 private:
  void load_best(const EvaluationResult& evaluation) {
    log(LogLevel::kInfo, "Loading best metric from event files.");
    loaded_dir_ = evaluation.model_dir;
    best_ = Value();
    for (const auto& metrics : evaluation.previous_metrics(pattern_)) {
      if (best_.is_null() || is_better(Value::of(metrics))) best_ = Value::of(metrics);
    }
  }
  bool is_better(const Value& current) const {
    const Value result = compare_fn_->call({best_, current});
    const bool* flag = result.get_if<bool>();
    return flag && *flag;
  }

  std::shared_ptr<Callable> compare_fn_;
  std::string pattern_, loaded_dir_;
  Value best_;
};

}  // namespace

RUNHOOKS_REGISTER_EXPORTER(
    BestExporter,
    "best_exporter, estimator.BestExporter",
    {"name = 'best_exporter': " RUNHOOKS_EXPORTED_NAME, RUNHOOKS_EXPORTED_RECEIVER,
     "event_file_pattern = NULL: string. A pattern of event files below the model directory, such "
     "as `\"eval/*.tfevents.*\"`. The best evaluation found there is the one to beat. `NULL`: "
     "ignore evaluations of previous runs.",
     "compare_fn = smaller_loss: function(best_eval_result, current_eval_result). "
     "A function of two named lists of metrics that returns `TRUE` if the second is better. "
     "Default: the smaller `loss` is better.",
     RUNHOOKS_EXPORTED_FILES, RUNHOOKS_EXPORTS_TO_KEEP});

}  // namespace runhooks
