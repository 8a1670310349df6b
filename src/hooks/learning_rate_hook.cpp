// Sets the learning rate before each step: by a schedule, or by reducing it when a metric stops
// improving.
#include <cmath>
#include <limits>

#include "base/log.h"
#include "data/input_progress.h"
#include "graph/endpoints.h"
#include "hooks/hook_registry.h"
#include "hooks/value_format.h"
#include "hooks/watched_metric.h"
#include "nn/summary_ops.h"

namespace runhooks {

namespace {

// Computes a factor for learning rates. The factor is reduced whenever a metric has not improved
// for `patience` steps.
class Plateau {
 public:
  explicit Plateau(const Args& args)
      : metric_(args.text("metric_name"), args.text("fallback_metric", ""), args.text("eval_dir")),
        higher_is_better_(args.flag("higher", false)),
        factor_(args.number("factor")),
        patience_(args.integer("patience")),
        min_delta_(args.number("min_delta", 0)) {}

  void begin() { metric_.begin(/*skip_existing=*/true); }
  // Reads new evaluations; returns true if the factor was reduced.
  bool update() {
    if (!metric_.has_new_evaluations()) return false;
    bool is_reduced = false;
    for (const WatchedMetric::Evaluation& evaluation : metric_.read(0)) {
      if (evaluation.step <= last_evaluation_step_) continue;
      last_evaluation_step_ = evaluation.step;
      const double delta = higher_is_better_ ? min_delta_ : -min_delta_;
      if (state_.best_step < 0 ||
          is_better_metric(evaluation.value, state_.best + delta, higher_is_better_)) {
        state_.best = evaluation.value;
        state_.best_step = evaluation.step;
        state_.last_progress_step = evaluation.step;
      }
      if (evaluation.step - state_.last_progress_step < patience_) continue;
      state_.scale *= factor_;
      state_.last_progress_step = evaluation.step;
      is_reduced = true;
    }
    return is_reduced;
  }
  double scale() const { return state_.scale; }
  const WatchedMetric& metric() const { return metric_; }

  struct PlateauState {
    double scale = 1, best = 0;
    int64_t best_step = -1, last_progress_step = 0;
  };
  NamedTensors save() const {
    return {{"scale", Tensor::scalar<double>(state_.scale)},
            {"best", Tensor::scalar<double>(state_.best)},
            {"best_step", Tensor::scalar<int64_t>(state_.best_step)},
            {"since", Tensor::scalar<int64_t>(state_.last_progress_step)},
            {"metric", Tensor::string_scalar(metric_.name())}};
  }
  // Reads a saved state. Throws if it is damaged or belongs to another metric.
  PlateauState restored(const NamedTensors& saved) {
    // States of earlier versions lack the name of the metric.
    const Tensor* metric = state_scalar(saved, "metric", DType::kString);
    const bool has_fallback = !metric_.fallback().empty();
    if (metric && has_fallback && metric->string_at(0) == metric_.fallback())
      metric_.use_fallback();
    if (metric && metric->string_at(0) != metric_.name()) {
      throw Error(Code::kFailedPrecondition,
                  str_cat("The saved state follows metric \"", metric->string_at(0), "\", not \"",
                          metric_.name(), "\"."),
                  {"Use the same metric or another `model_dir`."});
    }
    PlateauState state;
    state.scale = state_number(saved, "scale");
    state.best = state_number(saved, "best");
    state.best_step = state_integer(saved, "best_step");
    state.last_progress_step = state_integer(saved, "since");
    constexpr int64_t kMaxStep = int64_t{1} << 62;
    if (state.best_step < -1 || state.last_progress_step < 0 || state.best_step > kMaxStep ||
        state.last_progress_step > kMaxStep) {
      fail(Code::kDataLoss, "Invalid steps ", state.best_step, " and ", state.last_progress_step,
           ".");
    }
    if (!(state.scale >= 0 && state.scale <= 1)) {
      fail(Code::kDataLoss, "The factor of the learning rate must be between 0 and 1, not ",
           state.scale, ".");
    }
    return state;
  }
  void restore(const PlateauState& state) { state_ = state; }

 private:
  WatchedMetric metric_;
  bool higher_is_better_;
  double factor_;
  int64_t patience_;
  double min_delta_;
  PlateauState state_;
  int64_t last_evaluation_step_ = -1;
};

// Feeds the rates, so that the graph and its checkpoints do not change. The argument `schedule` is
// called as schedule(step, epoch, rate), with the global step, the current epoch and the rate of
// the optimizer.
class LearningRateHook : public RunHook {
 public:
  explicit LearningRateHook(const Args& args)
      : schedule_(args.callable("schedule")),
        min_rate_(args.number("min_rate", 0)),
        notify_(args.callable("notify")) {
    if (args.has("metric_name")) plateau_ = std::make_unique<Plateau>(args);
    if (!schedule_ == !plateau_) {
      invalid_argument("hook_learning_rate() needs either `schedule` or a metric, not both.");
    }
  }
  std::string name() const override { return "LearningRateHook"; }

  void begin(Graph& graph) override {
    rates_.clear();
    run_args_.feeds.clear();
    for (const auto& rate : endpoint(graph, "learning_rate")) {
      rates_.push_back({rate.second, rate.second.op->def().is_constant});
      if (rates_.back().is_constant) add_summary(graph, rate.first);
      run_args_.feeds.emplace_back(rate.second, Tensor());
    }
    if (rates_.empty()) {
      throw Error(Code::kFailedPrecondition, "This loop has no learning rate to set.",
                  {"Use hook_learning_rate() in train(), with a model that has an optimizer."});
    }
    run_args_.changed();
    step_.find(graph, name());
    if (plateau_) plateau_->begin();
  }
  void after_create_session(Session& session, Coordinator&) override {
    for (Rate& rate : rates_) {
      if (rate.is_constant) rate.optimizer_rate = session.run(rate.tensor).number_at(0);
      rate.fed_rate = std::numeric_limits<double>::quiet_NaN();
    }
  }
  const RunArgs* before_run(RunContext& context) override {
    Session& session = context.session();
    if (plateau_ && plateau_->update()) was_reduced_ = true;
    for (size_t i = 0; i < rates_.size(); ++i) {
      Rate& rate = rates_[i];
      if (!rate.is_constant) rate.optimizer_rate = session.run(rate.tensor).number_at(0);
      const double fed_rate = rate_for(session, rate.optimizer_rate);
      if (fed_rate == rate.fed_rate) continue;
      rate.fed_rate = fed_rate;
      run_args_.feeds[i].second = Tensor::number(rate.tensor.dtype(), fed_rate);
    }
    if (was_reduced_) report_reduction(session);
    return &run_args_;
  }
  bool has_state() const override { return plateau_ != nullptr; }
  NamedTensors save_state() override { return plateau_ ? plateau_->save() : NamedTensors(); }
  std::function<void()> read_state(const NamedTensors& state) override {
    if (!plateau_) return {};
    return [this, restored = plateau_->restored(state)] { plateau_->restore(restored); };
  }

 private:
  struct Rate {
    Output tensor;
    bool is_constant;
    double optimizer_rate = 0, fed_rate = 0;
  };

  void add_summary(Graph& graph, const std::string& submodel) const {
    const bool is_only_rate = endpoint(graph, "learning_rate").size() == 1;
    add_scalar_summary(graph, is_only_rate ? "learning_rate" : "learning_rate/" + submodel,
                       rates_.back().tensor);
  }
  double rate_for(Session& session, double optimizer_rate) const {
    if (plateau_)
      return std::max(optimizer_rate * plateau_->scale(), std::min(optimizer_rate, min_rate_));
    const int64_t step = step_.now(session);
    const int64_t epoch = input_progress(session).epoch;
    const Value result =
        schedule_->call({Value::of(static_cast<double>(step)),
                         Value::of(static_cast<double>(epoch)), Value::of(optimizer_rate)});
    double rate = 0;
    if (!value_number(result, &rate) || !std::isfinite(rate) || rate < 0) {
      throw Error(Code::kInvalidArgument,
                  str_cat("The schedule of hook_learning_rate() must return a number of 0 or more, "
                          "not ",
                          value_number(result, &rate) ? str_cat(rate) : result.kind(), ", at step ",
                          step, "."));
    }
    return rate;
  }
  void report_reduction(Session& session) {
    was_reduced_ = false;
    const std::string text = str_cat("Step ", step_.now(session), ": \"", plateau_->metric().name(),
                                     "\" gets no better; the learning rate is now ",
                                     short_number(rates_.front().fed_rate), ".");
    notify_user(notify_, "message", text);
  }

  std::shared_ptr<Callable> schedule_;
  std::unique_ptr<Plateau> plateau_;
  double min_rate_;
  std::shared_ptr<Callable> notify_;
  std::vector<Rate> rates_;
  bool was_reduced_ = false;
  GlobalStep step_;
  RunArgs run_args_;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(LearningRateHook,
                       "",
                       {"schedule = NULL: function", "metric_name = NULL: string",
                        "fallback_metric = '': string", "eval_dir = NULL: path",
                        "higher = FALSE: flag", "factor = 0.1: plain number in (0, 1)",
                        "patience = NULL: whole number", "min_delta = 0: plain number",
                        "min_rate = 0: plain number", "notify = NULL: function"});

}  // namespace runhooks
