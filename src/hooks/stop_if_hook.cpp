// Stops early by a metric of the evaluations (tf.estimator.experimental.stop_if_*_hook).
#include "base/log.h"
#include "hooks/best_weights.h"
#include "hooks/early_stopping_hook.h"
#include "hooks/value_format.h"
#include "hooks/watched_metric.h"

namespace runhooks {

namespace {

std::string number_text(double x) { return format_value(Tensor::scalar<double>(x)); }

// Reads the metrics after each evaluation in this process. Also reads them at intervals, because
// another process may write them.
class StopIfHook : public EarlyStoppingHook {
 public:
  StopIfHook(const Args& args, bool higher_is_better)
      : EarlyStoppingHook(args),
        metric_(args.text("metric_name"), args.text("fallback_metric", ""), args.text("eval_dir")),
        higher_is_better_(higher_is_better),
        min_steps_(args.number("min_steps", 0)),
        ignores_earlier_evaluations_(args.flag("of_this_loop", false)),
        restores_best_(args.flag("restore_best_weights", false)),
        best_weights_(args.text("model_dir", "")) {}

  void begin(Graph& graph) override {
    metric_.begin(ignores_earlier_evaluations_);
    has_warned_ = false;
    EarlyStoppingHook::begin(graph);
  }
  bool changes_variables() const override { return restores_best_; }
  void after_create_session(Session& session, Coordinator&) override {
    if (!restores_best_) return;
    best_weights_.begin(session.graph(), {global_step(session.graph()), stop_variable()});
  }
  void end(Session& session) override {
    const std::vector<Evaluation> evaluations = read_evaluations(session);
    EarlyStoppingHook::end(session);
    if (restores_best_ && !evaluations.empty()) restore(session, *best_of(evaluations));
    // Without this warning, training with a wrong `eval_dir` would look as if the metric always
    // improved.
    if (metric_.was_found() || has_warned_) return;
    notify("warning", str_cat("Early stopping never saw the metric \"", metric_.name(),
                              "\": no evaluation in ", metric_.eval_dir(), " has it."));
  }

  std::string reason() const override { return reason_; }

 protected:
  using Evaluation = WatchedMetric::Evaluation;
  const std::string& metric_name() const { return metric_.name(); }
  virtual bool should_stop_for(const std::vector<Evaluation>& evaluations) = 0;
  void set_reason(std::string reason) { reason_ = std::move(reason); }

 private:
  bool is_check_required() override { return metric_.has_new_evaluations(); }
  bool should_stop(Session& session) override { return should_stop_for(read_evaluations(session)); }
  const Evaluation* best_of(const std::vector<Evaluation>& evaluations) const {
    const Evaluation* best = nullptr;
    for (const Evaluation& evaluation : evaluations) {
      if (!best || is_better_metric(evaluation.value, best->value, higher_is_better_))
        best = &evaluation;
    }
    return best;
  }
  // Reads all evaluations, and saves the weights of the best one.
  std::vector<Evaluation> read_evaluations(Session& session) {
    const std::vector<Evaluation> evaluations = metric_.read(min_steps_);
    const Evaluation* best = best_of(evaluations);
    if (restores_best_ && best) best_weights_.save(session, step().now(session), best->step);
    if (!metric_.was_found() && !has_warned_) warn_if_in_other_folder();
    return evaluations;
  }
  // Warns at the first check, not at the end, because training may take hours.
  void warn_if_in_other_folder() {
    const std::vector<std::string> folders = metric_.folders_with_new_evaluations();
    if (folders.empty()) return;
    has_warned_ = true;
    notify("warning",
           str_cat("Early stopping has not seen the metric \"", metric_.name(),
                   "\" yet: there are no evaluations in ", metric_.eval_dir(), ", but in ",
                   folders[0], ". Give the hook `eval_dir = \"", folders[0], "\"`."));
  }
  void restore(Session& session, const Evaluation& best) const {
    if (best.step == step().now(session)) return;
    if (best_weights_.restore(session, best.step)) {
      notify("message", str_cat("The model has the weights of step ", best.step, " again, where \"",
                                metric_name(), "\" was best: ", short_number(best.value),
                                ". They are also saved in ", best_weights_.folder(), "."));
      return;
    }
    notify("warning",
           str_cat("The weights of step ", best.step, ", where metric \"", metric_name(),
                   "\" was best, cannot be restored: the evaluation is older than this hook, "
                   "and its checkpoint no longer exists."));
  }

  WatchedMetric metric_;
  bool higher_is_better_;
  double min_steps_;
  bool ignores_earlier_evaluations_, restores_best_;
  bool has_warned_ = false;
  BestWeights best_weights_;
  std::string reason_;
};

template <bool kHigher>
class StopIfThresholdHook : public StopIfHook {
 public:
  explicit StopIfThresholdHook(const Args& args)
      : StopIfHook(args, kHigher), threshold_(args.number("threshold")) {}

 private:
  bool should_stop_for(const std::vector<Evaluation>& evaluations) override {
    for (const Evaluation& evaluation : evaluations) {
      if (!(kHigher ? evaluation.value > threshold_ : evaluation.value < threshold_)) continue;
      set_reason(str_cat("since \"", metric_name(), "\" was ", short_number(evaluation.value),
                         " at step ", evaluation.step, ", ", kHigher ? "above " : "below ",
                         short_number(threshold_)));
      log(LogLevel::kInfo,
          str_cat("At step ", evaluation.step, ", metric \"", metric_name(), "\" has value ",
                  number_text(evaluation.value), " which is ",
                  kHigher ? "greater than" : "less than", " the configured threshold (",
                  number_text(threshold_), ") for early stopping."));
      return true;
    }
    return false;
  }

  double threshold_;
};

template <bool kIncrease>
class StopIfNoImprovementHook : public StopIfHook {
 public:
  explicit StopIfNoImprovementHook(const Args& args)
      : StopIfHook(args, kIncrease),
        max_steps_(
            args.integer(kIncrease ? "max_steps_without_increase" : "max_steps_without_decrease")),
        min_delta_(args.number("min_delta", 0)) {}

 private:
  bool should_stop_for(const std::vector<Evaluation>& evaluations) override {
    const Evaluation* best = nullptr;
    for (const Evaluation& evaluation : evaluations) {
      const double delta = kIncrease ? min_delta_ : -min_delta_;
      if (!best || is_better_metric(evaluation.value, best->value + delta, kIncrease)) {
        best = &evaluation;
      }
      const int64_t steps = evaluation.step - best->step;
      if (steps < max_steps_) continue;
      set_reason(str_cat("since \"", metric_name(), "\" has been no better for ", steps,
                         " steps: it was ", short_number(best->value), " at step ", best->step));
      log(LogLevel::kInfo,
          str_cat("No ", kIncrease ? "increase" : "decrease", " in metric \"", metric_name(),
                  "\" for ", steps, " steps, which is greater than or equal to max steps (",
                  max_steps_, ") configured for early stopping."));
      return true;
    }
    return false;
  }

  int64_t max_steps_;
  double min_delta_;
};

using StopIfHigherHook = StopIfThresholdHook<true>;
using StopIfLowerHook = StopIfThresholdHook<false>;
using StopIfNoIncreaseHook = StopIfNoImprovementHook<true>;
using StopIfNoDecreaseHook = StopIfNoImprovementHook<false>;

}  // namespace

#define RUNHOOKS_REGISTER_STOP_IF_HOOK(Class, endpoint, ...)                                       \
  RUNHOOKS_REGISTER_HOOK(                                                                          \
      Class, endpoint,                                                                             \
      {"metric_name: string. The name of a metric, such as `\"average_loss\"`.", __VA_ARGS__,      \
       "eval_dir = NULL: path. The directory of the evaluations. Default: `eval` in the model "    \
       "directory.",                                                                               \
       "min_steps = 0: plain number. Ignore evaluations before this global step.",                 \
       RUNHOOKS_STOP_ARGUMENTS,                                                                    \
       "restore_best_weights = FALSE: flag. Restore the weights of the best evaluation when "      \
       "training ends? All variables except the global step are restored, and the last "           \
       "checkpoint contains them; a message says so. The best model is also saved as a "           \
       "checkpoint: `latest_checkpoint(file.path(model_dir(model), \"best\"))`. It is saved "      \
       "when the hook reads the evaluation: directly, if the model was evaluated in the same "     \
       "loop, else by copying the checkpoint of that step if it still exists. With this "          \
       "argument the hook runs after all other hooks except checkpoint savers. TensorFlow has no " \
       "such argument.",                                                                           \
       "model_dir = '': path", "fallback_metric = '': string", "of_this_loop = FALSE: flag",       \
       "min_delta = 0: plain number"})

RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfHigherHook,
                               "hook_stop_if_higher",
                               "threshold: plain number. The threshold.");
RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfLowerHook,
                               "hook_stop_if_lower",
                               "threshold: plain number. The threshold.");
RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfNoIncreaseHook,
                               "hook_stop_if_no_increase",
                               "max_steps_without_increase: whole number. Stop if the metric has "
                               "not increased for this number of steps.");
RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfNoDecreaseHook,
                               "hook_stop_if_no_decrease",
                               "max_steps_without_decrease: whole number. Stop if the metric has "
                               "not decreased for this number of steps.");

}  // namespace runhooks
