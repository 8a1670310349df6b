// Early stopping by a metric of the evaluations (tf.estimator.experimental.stop_if_*_hook).
#include "base/log.h"
#include "hooks/best_weights.h"
#include "hooks/early_stopping_hook.h"
#include "hooks/value_format.h"
#include "hooks/watched_metric.h"

namespace runhooks {

namespace {

std::string number_text(double x) { return format_value(Tensor::scalar<double>(x)); }

// The metrics are read at intervals, since another process may write them, and as soon as this
// process has evaluated something.
class StopIfHook : public EarlyStoppingHook {
 public:
  StopIfHook(const Args& args, bool higher)
      : EarlyStoppingHook(args),
        metric_(args.text("metric_name"), args.text("eval_dir")),
        higher_(higher),
        min_steps_(args.number("min_steps", 0)),
        of_this_loop_(args.flag("of_this_loop", false)),
        restores_best_(args.flag("restore_best_weights", false)),
        best_weights_(args.text("model_dir", "")) {}

  void begin(Graph& graph) override {
    metric_.begin(of_this_loop_);
    EarlyStoppingHook::begin(graph);
  }
  bool changes_variables() const override { return restores_best_; }
  void after_create_session(Session& session, Coordinator&) override {
    if (!restores_best_) return;
    best_weights_.begin(session.graph(), {global_step(session.graph()), stop_variable()});
  }
  void end(Session& session) override {
    // the evaluation of the last step may just have been made
    const std::vector<Seen> seen = look(session);
    EarlyStoppingHook::end(session);
    if (restores_best_ && !seen.empty()) restore(session, *best_of(seen));
    // Otherwise a folder that is not the one of the evaluations would look like a model that never
    // stops improving.
    if (metric_.was_seen()) return;
    say("warning", str_cat("Early stopping never saw the metric \"", metric_.name(),
                           "\": there was no evaluation of it in ", metric_.eval_dir(), "."));
  }

  std::string reason() const override { return reason_; }

 protected:
  using Seen = WatchedMetric::Seen;
  const std::string& metric_name() const { return metric_.name(); }
  virtual bool should_stop_for(const std::vector<Seen>& seen) = 0;
  void set_reason(std::string reason) { reason_ = std::move(reason); }

 private:
  bool has_news() override { return metric_.has_news(); }
  bool should_stop(Session& session) override { return should_stop_for(look(session)); }
  const Seen* best_of(const std::vector<Seen>& seen) const {
    const Seen* best = nullptr;
    for (const Seen& one : seen) {
      if (!best || is_better_metric(one.value, best->value, higher_)) best = &one;
    }
    return best;
  }
  // What there is by now; the best of it is kept.
  std::vector<Seen> look(Session& session) {
    const std::vector<Seen> seen = metric_.read(min_steps_);
    const Seen* best = best_of(seen);
    if (restores_best_ && best) best_weights_.keep(session, step().now(session), best->step);
    return seen;
  }
  void restore(Session& session, const Seen& best) const {
    if (best.step == step().now(session)) return;
    if (best_weights_.restore(session, best.step)) {
      say("message", str_cat("The model has the weights of step ", best.step, " again, where \"",
                             metric_name(), "\" was best: ", short_number(best.value),
                             ". They are also kept in ", best_weights_.folder(), "."));
      return;
    }
    say("warning",
        str_cat("The weights of step ", best.step, ", where metric \"", metric_name(),
                "\" was best, cannot be restored: it was evaluated before this hook was asked, and "
                "there is no checkpoint of it."));
  }

  WatchedMetric metric_;
  bool higher_;
  double min_steps_;
  bool of_this_loop_, restores_best_;
  BestWeights best_weights_;
  std::string reason_;
};

template <bool kHigher>
class StopIfThresholdHook : public StopIfHook {
 public:
  explicit StopIfThresholdHook(const Args& args)
      : StopIfHook(args, kHigher), threshold_(args.number("threshold")) {}

 private:
  bool should_stop_for(const std::vector<Seen>& seen) override {
    for (const Seen& one : seen) {
      if (!(kHigher ? one.value > threshold_ : one.value < threshold_)) continue;
      set_reason(str_cat("since \"", metric_name(), "\" was ", short_number(one.value), " at step ",
                         one.step, ", ", kHigher ? "above " : "below ", short_number(threshold_)));
      log(LogLevel::kInfo,
          str_cat("At step ", one.step, ", metric \"", metric_name(), "\" has value ",
                  number_text(one.value), " which is ", kHigher ? "greater than" : "less than",
                  " the configured threshold (", number_text(threshold_), ") for early stopping."));
      return true;
    }
    return false;
  }

  double threshold_;
};

// Stops when the best value is so many steps old.
template <bool kIncrease>
class StopIfNoImprovementHook : public StopIfHook {
 public:
  explicit StopIfNoImprovementHook(const Args& args)
      : StopIfHook(args, kIncrease),
        max_steps_(
            args.integer(kIncrease ? "max_steps_without_increase" : "max_steps_without_decrease")),
        min_delta_(args.number("min_delta", 0)) {}

 private:
  bool should_stop_for(const std::vector<Seen>& seen) override {
    const Seen* best = nullptr;
    for (const Seen& one : seen) {
      const double delta = kIncrease ? min_delta_ : -min_delta_;
      if (!best || is_better_metric(one.value, best->value + delta, kIncrease)) {
        best = &one;
      }
      const int64_t steps = one.step - best->step;
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
      {"metric_name: string. A name such as `\"average_loss\"`.", __VA_ARGS__,                     \
       "eval_dir = NULL: path. The folder; `NULL`: `eval` in the folder of the model.",            \
       "min_steps = 0: plain number. Evaluations before this global step are left out.",           \
       RUNHOOKS_STOP_ARGUMENTS,                                                                    \
       "restore_best_weights = FALSE: flag. TRUE: when the training ends, by this hook or by its " \
       "steps, all variables but the global step get back the values that they had at the best "   \
       "evaluation, and the last checkpoint holds these; a message says so. The best model is "    \
       "also kept as a checkpoint in the folder `best` of the model's: "                           \
       "`latest_checkpoint(file.path(model_dir(model), \"best\"))`. It is written when the hook "  \
       "sees the evaluation: at its own step where the evaluation is made in the same loop, else " \
       "it is a copy of the checkpoint of that step, as long as there is one. The hook comes "     \
       "after all other hooks then, and checkpoint savers after it. TensorFlow has no such "       \
       "argument.",                                                                                \
       "model_dir = '': path", "of_this_loop = FALSE: flag", "min_delta = 0: plain number"})

RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfHigherHook,
                               "hook_stop_if_higher",
                               "threshold: plain number. A number.");
RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfLowerHook,
                               "hook_stop_if_lower",
                               "threshold: plain number. A number.");
RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfNoIncreaseHook,
                               "hook_stop_if_no_increase",
                               "max_steps_without_increase: whole number. A number of steps.");
RUNHOOKS_REGISTER_STOP_IF_HOOK(StopIfNoDecreaseHook,
                               "hook_stop_if_no_decrease",
                               "max_steps_without_decrease: whole number. A number of steps.");

}  // namespace runhooks
