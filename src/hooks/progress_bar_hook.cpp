// Reports the progress of a loop to R, which draws the progress bar.
#include "base/clock.h"
#include "data/input_progress.h"
#include "graph/endpoints.h"
#include "hooks/hook_registry.h"
#include "session/reusable_session_hook.h"

namespace runhooks {

namespace {

// Calls draw(run, loss, global_step, is_last, rows, seconds, waited, parts) at most every
// `min_secs` seconds, and once at the end. `rows`, `seconds` and `waited` are readings of
// InputTimer (0 without a dataset); `parts` is the text of the model's endpoint "progress", such as
// "2 trees, 7 layers". Calls finish(runs) if the loop ends normally. In training, `runs` is the
// increase of the global step, which does not count steps that were lost in a failure and repeated.
class ProgressBarHook : public RunHook, public ReusableSessionHook {
 public:
  explicit ProgressBarHook(const Args& args)
      : draw_(args.callable("draw")),
        finish_(args.callable("finish")),
        min_secs_(args.number("min_secs", 0.1)) {}
  std::string name() const override { return "ProgressBarHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    num_runs_ = 0;
    has_started_ = false;
    next_draw_time_ = 0;
    const std::vector<CollectionItem> losses = graph.collection(collection_keys::kLosses);
    const Output* loss = losses.empty() ? nullptr : std::get_if<Output>(&losses.back());
    if (draw_ && loss) {
      run_args_.fetches = {*loss};
      progress_counters_ = endpoint(graph, "progress");
      for (const auto& counter : progress_counters_) run_args_.fetches.push_back(counter.second);
    }
    run_args_.changed();
    step_.find(graph, name());
  }
  const RunArgs* before_run(RunContext& context) override {
    if (draw_ && num_runs_ == 0) timer_.start(context.session());
    return run_args_.fetches.empty() ? nullptr : &run_args_;
  }
  void after_create_session(Session& session, Coordinator&) override {
    if (!has_started_) first_step_ = step_.now(session);
    has_started_ = true;
  }
  void after_run(RunContext& context, const RunValues& values) override {
    ++num_runs_;
    if (!draw_) return;
    if (values.size() > 0) {
      loss_ = mean_of(values.result(0));
      update_progress_text(values);
    }
    const double now = now_seconds();
    if (now < next_draw_time_) return;
    next_draw_time_ = now + min_secs_;
    draw(context.session(), false);
  }
  void end(Session& session) override {
    if (draw_ && num_runs_ > 0) draw(session, true);
    const int64_t steps = step_.now(session) - first_step_;
    if (finish_) finish_->call({Value::of(static_cast<double>(steps > 0 ? steps : num_runs_))});
  }

 private:
  void update_progress_text(const RunValues& values) {
    progress_text_.clear();
    for (size_t i = 0; i < progress_counters_.size(); ++i) {
      const auto n = static_cast<int64_t>(values.result(i + 1).number_at(0));
      progress_text_ +=
          str_cat(i == 0 ? "" : ", ", n, " ", progress_counters_[i].first, n == 1 ? "" : "s");
    }
  }
  void draw(Session& session, bool is_last) {
    const double step = static_cast<double>(step_.now(session));
    const InputTimer::Reading input = timer_.read(session);
    draw_->call({Value::of(static_cast<double>(num_runs_)), Value::of(loss_), Value::of(step),
                 Value::of(is_last), Value::of(input.rows), Value::of(input.seconds),
                 Value::of(input.waited), Value::of(progress_text_)});
  }

  std::shared_ptr<Callable> draw_, finish_;
  double min_secs_;
  GlobalStep step_;
  RunArgs run_args_;
  InputTimer timer_;
  EndpointTensors progress_counters_;
  std::string progress_text_;
  bool has_started_ = false;
  int64_t num_runs_ = 0, first_step_ = 0;
  double loss_ = 0, next_draw_time_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(ProgressBarHook,
                       "",
                       {"draw = NULL: function", "finish = NULL: function",
                        "min_secs = 0.1: plain number"});

}  // namespace runhooks
