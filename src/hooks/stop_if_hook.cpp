// Early stopping by a metric of the evaluations (tf.estimator.experimental.stop_if_*_hook).
#include "base/log.h"
#include "hooks/best_weights.h"
#include "hooks/early_stopping_hook.h"
#include "hooks/value_format.h"
#include "io/eval_metrics.h"

namespace runhooks {

namespace {

std::string number_text(double x) { return format_value(Tensor::scalar<double>(x)); }

// What is new of the metrics is read whenever it is asked: another process may write them.
class StopIfHook : public EarlyStoppingHook {
 public:
  explicit StopIfHook(const Args& args)
      : EarlyStoppingHook(args),
        metric_name_(args.text("metric_name")),
        eval_dir_(args.text("eval_dir")),
        metrics_(eval_dir_),
        min_steps_(args.number("min_steps", 0)),
        restores_best_(args.flag("restore_best_weights", false)),
        best_weights_(args.text("model_dir", "")) {}

  void begin(Graph& graph) override {
    was_seen_ = false;
    metrics_ = EvalMetricsReader(eval_dir_);
    EarlyStoppingHook::begin(graph);
  }
  bool changes_variables() const override { return restores_best_; }
  void after_create_session(Session& session, Coordinator&) override {
    if (!restores_best_) return;
    best_weights_.begin(session.graph(), {global_step(session.graph()), stop_variable()});
  }
  // Otherwise a folder that is not the one of the evaluations would look like a model that never
  // stops improving.
  void end(Session&) override {
    if (was_seen_) return;
    log(LogLevel::kWarn, str_cat("Early stopping never saw the metric \"", metric_name_,
                                 "\": there was no evaluation of it in ", eval_dir_, "."));
  }

 protected:
  struct Seen {
    int64_t step;
    double value;
  };
  const std::string& metric_name() const { return metric_name_; }
  virtual bool should_stop_for(const std::vector<Seen>& seen) const = 0;
  virtual bool is_better(double value, double than) const = 0;

 private:
  bool should_stop(Session& session) override {
    const std::vector<Seen> seen = read_metrics();
    const Seen* best = nullptr;
    for (const Seen& one : seen) {
      if (!best || is_better(one.value, best->value)) best = &one;
    }
    if (restores_best_ && best) best_weights_.keep(session, step().now(session), best->step);
    const bool stops = should_stop_for(seen);
    if (restores_best_ && stops) restore(session, *best);
    return stops;
  }
  void restore(Session& session, const Seen& best) const {
    if (best_weights_.restore(session, best.step)) {
      log(LogLevel::kInfo, str_cat("Restoring the weights of step ", best.step, ", where metric \"",
                                   metric_name_, "\" was best: ", number_text(best.value), "."));
      return;
    }
    log(LogLevel::kWarn,
        str_cat("The weights of step ", best.step, ", where metric \"", metric_name_,
                "\" was best, cannot be restored: it was evaluated before this hook was asked, and "
                "there is no checkpoint of it."));
  }
  std::vector<Seen> read_metrics() {
    std::vector<Seen> seen;
    for (const auto& evaluation : metrics_.read()) {
      if (evaluation.second.count(metric_name_)) was_seen_ = true;
      if (static_cast<double>(evaluation.first) < min_steps_) continue;
      seen.push_back({evaluation.first, value_in(evaluation.second, evaluation.first)});
    }
    return seen;
  }
  double value_in(const std::map<std::string, double>& metrics, int64_t step) const {
    const auto found = metrics.find(metric_name_);
    if (found != metrics.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& metric : metrics) known.push_back(metric.first);
    throw Error(
        Code::kNotFound,
        str_cat("There is no metric '", metric_name_, "' in the evaluation at step ", step, "."),
        {str_cat("It has: ", str_join(known, ", "), ".")});
  }

  std::string metric_name_, eval_dir_;
  EvalMetricsReader metrics_;
  double min_steps_;
  bool restores_best_;
  BestWeights best_weights_;
  bool was_seen_ = false;
};

template <bool kHigher>
class StopIfThresholdHook : public StopIfHook {
 public:
  explicit StopIfThresholdHook(const Args& args)
      : StopIfHook(args), threshold_(args.number("threshold")) {}

 private:
  bool should_stop_for(const std::vector<Seen>& seen) const override {
    for (const Seen& one : seen) {
      if (!(kHigher ? one.value > threshold_ : one.value < threshold_)) continue;
      log(LogLevel::kInfo,
          str_cat("At step ", one.step, ", metric \"", metric_name(), "\" has value ",
                  number_text(one.value), " which is ", kHigher ? "greater than" : "less than",
                  " the configured threshold (", number_text(threshold_), ") for early stopping."));
      return true;
    }
    return false;
  }

  bool is_better(double value, double than) const override {
    return kHigher ? value > than : value < than;
  }

  double threshold_;
};

// Stops when the best value is so many steps old.
template <bool kIncrease>
class StopIfNoImprovementHook : public StopIfHook {
 public:
  explicit StopIfNoImprovementHook(const Args& args)
      : StopIfHook(args), max_steps_(args.integer("max_steps_without_improvement")) {}

 private:
  bool should_stop_for(const std::vector<Seen>& seen) const override {
    const Seen* best = nullptr;
    for (const Seen& one : seen) {
      if (!best || is_better(one.value, best->value)) best = &one;
      const int64_t steps = one.step - best->step;
      if (steps < max_steps_) continue;
      log(LogLevel::kInfo,
          str_cat("No ", kIncrease ? "increase" : "decrease", " in metric \"", metric_name(),
                  "\" for ", steps, " steps, which is greater than or equal to max steps (",
                  max_steps_, ") configured for early stopping."));
      return true;
    }
    return false;
  }

  bool is_better(double value, double than) const override {
    return kIncrease ? value > than : value < than;
  }

  int64_t max_steps_;
};

using StopIfHigherHook = StopIfThresholdHook<true>;
using StopIfLowerHook = StopIfThresholdHook<false>;
using StopIfNoIncreaseHook = StopIfNoImprovementHook<true>;
using StopIfNoDecreaseHook = StopIfNoImprovementHook<false>;

}  // namespace

RUNHOOKS_REGISTER_HOOK(StopIfHigherHook, "");
RUNHOOKS_REGISTER_HOOK(StopIfLowerHook, "");
RUNHOOKS_REGISTER_HOOK(StopIfNoIncreaseHook, "");
RUNHOOKS_REGISTER_HOOK(StopIfNoDecreaseHook, "");

}  // namespace runhooks
