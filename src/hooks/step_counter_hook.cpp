// Logs steps per second (tf.train.StepCounterHook).
#include <cstdio>

#include "base/log_first.h"
#include "base/number_text.h"
#include "data/input_progress.h"
#include "hooks/hook_registry.h"
#include "session/warmup_steps.h"
#include "training/summary_writer.h"

namespace runhooks {

namespace {

constexpr int kMaxStepWarnings = 5;

class StepCounterHook : public RunHook {
 public:
  explicit StepCounterHook(const Args& args) : output_dir_(args.text("output_dir", "")) {
    if (args.has("every_n_steps") == args.has("every_n_secs")) {
      invalid_argument("exactly one of every_n_steps and every_n_secs should be provided.");
    }
    trigger_ = trigger_of(args, "every_n_steps", "every_n_secs");
  }
  std::string name() const override { return "StepCounterHook"; }
  bool is_for_chief() const override { return true; }

  void begin(Graph& graph) override {
    trigger_.reset();
    has_last_step_ = false;
    step_.find(graph, name());
    has_warmup_steps_ = has_warmup_steps(graph);
    run_args_.fetches = {step_.tensor()};
    run_args_.changed();
    tag_ = step_.variable().op_name() + "/sec";
    if (!output_dir_.empty()) writer_ = summary_writer(output_dir_, graph);
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    const int64_t previous_step = *values.result(0).data<int64_t>();
    // Like TensorFlow's hook, assumes that the run has added 1 to the global step. Reads the step
    // only if the hook would then be due.
    if (trigger_.should_trigger(previous_step + 1)) report_if_due(context.session());
    if (has_last_step_ && previous_step == last_step_ && !has_warmup_steps_)
      warn_step_unchanged(previous_step);
    last_step_ = previous_step;
    has_last_step_ = true;
  }
  void end(Session&) override { writer_.reset(); }
  void on_error(Session*, const LoopFailure&) override { writer_.reset(); }

 private:
  void report_if_due(Session& session) {
    const int64_t step = step_.now(session);
    if (!trigger_.should_trigger(step)) return;
    const Trigger::Elapsed elapsed = trigger_.update(step);
    if (elapsed.is_known) report(elapsed, step, session);
    timer_.start(session);
  }
  void report(const Trigger::Elapsed& elapsed, int64_t step, Session& session) {
    const double per_second = static_cast<double>(elapsed.steps) / elapsed.secs;
    log(LogLevel::kInfo, str_cat(tag_, ": ", format_text("%g", per_second)));
    std::vector<std::pair<std::string, double>> scalars = {{tag_, per_second}};
    add_input_scalars(timer_.read(session), &scalars);
    if (writer_) writer_->add_scalars(scalars, step);
  }
  // Logs a separate line at a lower level, so that TensorFlow's lines stay the same.
  static void add_input_scalars(const InputTimer::Reading& input,
                                std::vector<std::pair<std::string, double>>* scalars) {
    if (!input.is_known || input.seconds <= 0) return;
    const double rate = input.rows / input.seconds, share = input.waited / input.seconds;
    log(LogLevel::kDebug, format_text("input: %.4g rows/s, %.0f rows, waited %.0f%% of %.3g s",
                                      rate, input.rows, 100 * share, input.seconds));
    scalars->emplace_back("input/rows_per_sec", rate);
    scalars->emplace_back("input/waited", share);
  }
  // Warns at most five times per process, like TensorFlow.
  void warn_step_unchanged(int64_t previous_step) const {
    warn_first_n(
        "global_step",
        str_cat("It seems that global step (tf.train.get_global_step) has not been increased. "
                "Current value "
                "(could be stable): ",
                previous_step, " vs previous value: ", last_step_,
                ". You could increase the global step by passing tf.train.get_global_step() to "
                "Optimizer.apply_gradients or Optimizer.minimize."),
        kMaxStepWarnings, "global step is stuck");
  }

  std::string output_dir_, tag_;
  GlobalStep step_;
  Trigger trigger_;
  RunArgs run_args_;
  std::shared_ptr<EventFileWriter> writer_;
  InputTimer timer_;
  bool has_last_step_ = false;
  bool has_warmup_steps_ = false;  // an initial pass has steps that keep the global step
  int64_t last_step_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    StepCounterHook,
    "hook_step_counter, train.StepCounterHook",
    {"every_n_steps = 100: whole number or NULL. Report every `every_n_steps` global steps.",
     "every_n_secs = NULL: plain number. Report every `every_n_secs` seconds instead of every "
     "`every_n_steps` steps.",
     "output_dir = NULL: path. Directory of the event file, or `NULL` to write none.",
     "summary_writer = NULL: unsupported. Not supported: use `output_dir`."});

}  // namespace runhooks
