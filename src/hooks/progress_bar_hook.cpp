// Tells the embedding language how far a loop has come; the language draws.
#include "base/clock.h"
#include "data/input_progress.h"
#include "graph/endpoints.h"
#include "hooks/hook_registry.h"
#include "session/reusable_session_hook.h"

namespace runhooks {

namespace {

// `draw` is called as draw(run, loss, global_step, is_last, rows, seconds, waited, parts), rows to
// waited as an InputTimer reads them (0 where the input is no dataset), `parts` what the model counts
// beside steps (its endpoint "progress"; "2 trees, 7 layers"), at most every `min_secs` seconds and
// once at the end; without it nothing is fetched. `finish` is called as finish(runs) when the loop
// has ended well; runs of training are counted by the global step, which also knows what was lost
// and made again.
class ProgressBarHook : public RunHook, public ReusableSessionHook {
 public:
  explicit ProgressBarHook(const Args& args)
      : draw_(args.callable("draw")),
        finish_(args.callable("finish")),
        min_secs_(args.number("min_secs", 0.1)) {}
  std::string name() const override { return "ProgressBarHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    runs_ = 0;
    has_started_ = false;
    next_draw_ = 0;
    const std::vector<CollectionItem> losses = graph.collection(collection_keys::kLosses);
    const Output* loss = losses.empty() ? nullptr : std::get_if<Output>(&losses.back());
    if (draw_ && loss) run_args_.fetches = {*loss};
    if (draw_ && loss) {
      counted_ = endpoint(graph, "progress");
      for (const auto& part : counted_) run_args_.fetches.push_back(part.second);
    }
    run_args_.changed();
    step_.find(graph, name());
  }
  const RunArgs* before_run(RunContext& context) override {
    if (draw_ && runs_ == 0) meter_.start(context.session());
    return run_args_.fetches.empty() ? nullptr : &run_args_;
  }
  void after_create_session(Session& session, Coordinator&) override {
    if (!has_started_) first_step_ = step_.now(session);
    has_started_ = true;
  }
  void after_run(RunContext& context, const RunValues& values) override {
    ++runs_;
    if (!draw_) return;
    if (values.size() > 0) {
      loss_ = mean(values.result(0));
      count_parts(values);
    }
    const double now = now_seconds();
    if (now < next_draw_) return;
    next_draw_ = now + min_secs_;
    draw(context.session(), false);
  }
  void end(Session& session) override {
    if (draw_ && runs_ > 0) draw(session, true);
    const int64_t steps = step_.now(session) - first_step_;
    if (finish_) finish_->call({Value::of(static_cast<double>(steps > 0 ? steps : runs_))});
  }

 private:
  static double mean(const Tensor& loss) {
    double total = 0;
    for (int64_t i = 0; i < loss.num_elements(); ++i) total += loss.number_at(i);
    return total / static_cast<double>(loss.num_elements());
  }
  void count_parts(const RunValues& values) {
    parts_.clear();
    for (size_t i = 0; i < counted_.size(); ++i) {
      const auto n = static_cast<int64_t>(values.result(i + 1).number_at(0));
      parts_ += str_cat(i == 0 ? "" : ", ", n, " ", counted_[i].first, n == 1 ? "" : "s");
    }
  }
  void draw(Session& session, bool is_last) {
    const double step = static_cast<double>(step_.now(session));
    const InputTimer::Reading input = meter_.read(session);
    draw_->call({Value::of(static_cast<double>(runs_)), Value::of(loss_), Value::of(step),
                 Value::of(is_last), Value::of(input.rows), Value::of(input.seconds),
                 Value::of(input.waited), Value::of(parts_)});
  }

  std::shared_ptr<Callable> draw_, finish_;
  double min_secs_;
  GlobalStep step_;
  RunArgs run_args_;
  InputTimer meter_;
  EndpointTensors counted_;
  std::string parts_;
  bool has_started_ = false;
  int64_t runs_ = 0, first_step_ = 0;
  double loss_ = 0, next_draw_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(ProgressBarHook,
                       "",
                       {"draw = NULL: function", "finish = NULL: function",
                        "min_secs = 0.1: plain number"});

}  // namespace runhooks
