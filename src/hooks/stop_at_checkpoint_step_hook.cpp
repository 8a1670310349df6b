// Stops when a checkpoint of the last step exists
// (tf.estimator.experimental.make_stop_at_checkpoint_step_hook for a worker that does not save).
#include "base/clock.h"
#include "hooks/hook_registry.h"
#include "training/saved_step.h"

namespace runhooks {

namespace {

class StopAtCheckpointStepHook : public RunHook {
 public:
  explicit StopAtCheckpointStepHook(const Args& args)
      : model_dir_(args.text("model_dir")),
        last_step_(args.integer("last_step")),
        wait_secs_(args.number("wait_after_file_check_secs", 30)) {}
  std::string name() const override { return "StopAtCheckpointStepHook"; }

  void begin(Graph& graph) override {
    step_.find(graph, name());
    run_args_.fetches = {step_.tensor()};
    run_args_.changed();
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    // The fetched value is the global step before the run, which has added 1 to it.
    if (*values.result(0).data<int64_t>() + 1 < last_step_) return;
    if (saved_global_step(model_dir_, /*otherwise=*/-1) >= last_step_) {
      context.request_stop();
    } else {
      // The chief may still be writing the checkpoint; check again after the next step.
      sleep_seconds(wait_secs_);
    }
  }

 private:
  std::string model_dir_;
  int64_t last_step_;
  double wait_secs_;
  GlobalStep step_;
  RunArgs run_args_;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    StopAtCheckpointStepHook,
    "hook_stop_at_checkpoint_step",
    {"model_dir: path. The directory of the checkpoints. For an estimator that trains and saves "
     "by itself, give the estimator: the result is then [hook_stop_at_step()], as in TensorFlow.",
     "last_step: whole number. The global step to stop at.",
     "wait_after_file_check_secs = 30: plain number. Seconds to wait after each check."});

}  // namespace runhooks
