#include "estimators/run/run_recorder.h"

#include <algorithm>

#include "data/input_progress.h"
#include "hooks/early_stopping_hook.h"

namespace runhooks {

namespace {

std::vector<std::string> names_of(const HookList& hooks) {
  std::vector<std::string> names;
  for (const HookPtr& hook : hooks) names.push_back(hook->name());
  return names;
}

PlainData plain_config(const RunConfig& config) {
  PlainFields fields;
  fields.add("save_summary_steps", static_cast<double>(config.save_summary_steps))
      .add("save_checkpoints_steps", static_cast<double>(config.save_checkpoints_steps))
      .add("save_checkpoints_secs", config.save_checkpoints_secs)
      .add("keep_checkpoint_max", static_cast<double>(config.keep_checkpoint_max))
      .add("keep_checkpoint_every_n_hours", config.keep_checkpoint_every_n_hours)
      .add("log_step_count_steps", static_cast<double>(config.log_step_count_steps))
      .add("checkpoint_input_pipeline", config.checkpoint_input_pipeline);
  return fields.take();
}

PlainFields begin_fields(const RunConfig& config, const TrainOptions& options) {
  PlainFields fields = options.about;
  fields.add("config", plain_config(config)).add("hooks", plain_strings(names_of(options.hooks)));
  if (config.has_seed) fields.add("seed", static_cast<double>(config.tf_random_seed));
  return fields;
}

std::string step_count_text(int64_t steps) {
  return str_cat(steps, steps == 1 ? " step" : " steps");
}

}  // namespace

// Reads the global step and the input timing when the loop ends. Fetches nothing during steps, to
// save time.
class RunRecorder::StepObserver : public RunHook {
 public:
  explicit StepObserver(int64_t from_step) : step_(from_step) {}
  std::string name() const override { return "LastStepHook"; }
  void begin(Graph& graph) override { variable_ = global_step(graph); }
  void after_create_session(Session& session, Coordinator&) override {
    is_timed_ = false;
    update(session);
  }
  const RunArgs* before_run(RunContext& context) override {
    if (!is_timed_) timer_.start(context.session());
    is_timed_ = true;
    return nullptr;
  }
  void end(Session& session) override { update(session); }
  void on_error(Session* session, const LoopFailure&) override {
    if (session && session->is_initialized(*variable_)) update(*session);
  }
  int64_t step() const { return step_; }
  const RunInput& input() const { return input_; }

 private:
  void update(Session& session) {
    step_ = *session.value(*variable_).data<int64_t>();
    if (!is_timed_) return;
    const InputTimer::Reading reading = timer_.read(session);
    if (reading.is_known) input_ = {reading.rows, reading.seconds, reading.waited};
  }

  int64_t step_;
  VariablePtr variable_;
  bool is_timed_ = false;
  InputTimer timer_;
  RunInput input_;
};

RunRecorder::RunRecorder(const RunConfig& config, int64_t from_step, const TrainOptions& options)
    : steps_(options.steps),
      max_steps_(options.max_steps),
      seed_recorder_([this] {
        constexpr size_t kMaxSeeds = 100;
        const uint64_t seed = fresh_seed();
        if (seeds_.size() < kMaxSeeds) seeds_.push_back(static_cast<double>(seed));
        return seed;
      }),
      log_capture_([this](LogLevel, const std::string& text) {
        constexpr size_t kMaxLines = 100, kMaxLength = 1000;
        if (lines_.size() == kMaxLines) lines_.pop_front();
        lines_.push_back(text.substr(0, kMaxLength));
      }),
      record_(config.model_dir, from_step, begin_fields(config, options)),
      observer_(std::make_shared<StepObserver>(from_step)) {}

HookPtr RunRecorder::hook() const { return observer_; }
int64_t RunRecorder::step() const { return observer_->step(); }

void RunRecorder::begin(const MonitoredSession& session, HookList limits) {
  limits_ = std::move(limits);
  PlainFields fields;
  fields.add("hooks", plain_strings(names_of(session.hooks())));
  record_.add(std::move(fields));
}

RunEnd RunRecorder::requested_end(const StopCause& stop_cause) const {
  if (!stop_cause.hook) return {"hook", "the coordinator was asked to stop"};
  const bool is_limit =
      std::any_of(limits_.begin(), limits_.end(),
                  [&stop_cause](const HookPtr& limit) { return limit.get() == stop_cause.hook; });
  if (is_limit && steps_ > 0) {
    return {"steps",
            str_cat(step_count_text(steps_), steps_ == 1 ? " was" : " were", " requested")};
  }
  if (is_limit) return {"steps", str_cat("max_steps = ", max_steps_, " was reached")};
  if (const auto* early = dynamic_cast<const EarlyStoppingHook*>(stop_cause.hook)) {
    return {"early_stopping", early->reason()};
  }
  return {"hook", stop_cause.hook->name()};
}

void RunRecorder::set_end(const StopCause& stop_cause, bool input_ended) {
  if (stop_cause.hook) {
    hook_text_ = str_cat(" (in ", stop_cause.method, "() of hook `", stop_cause.hook->name(), "`)");
  }
  end_ = input_ended && !stop_cause.hook ? RunEnd{"data", "the input ended"}
                                         : requested_end(stop_cause);
}

void RunRecorder::skip() {
  write({"steps", str_cat("max_steps = ", max_steps_, " had been reached before")});
}

const RunEnd& RunRecorder::end() {
  write(end_);
  return end_;
}

RunEnd RunRecorder::failed_end() const {
  try {
    throw;
  } catch (const ForeignUnwind& unwind) {
    if (unwind.is_interrupt()) return {"interrupt", "the user stopped it"};
    const std::string text = take_foreign_error();
    return {"error", text.empty() ? "The loop was left by a jump." : text};
  } catch (const Error& error) {
    return {"error", error.message() + hook_text_};
  } catch (const std::exception& error) {
    return {"error", error.what() + hook_text_};
  } catch (...) {
    return {"error", "unknown" + hook_text_};
  }
}

void RunRecorder::fail() { write(failed_end()); }

void RunRecorder::write(const RunEnd& end) {
  record_.end(observer_->step(), observer_->input(), end, seeds_, {lines_.begin(), lines_.end()});
}

}  // namespace runhooks
