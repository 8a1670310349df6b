// Stops after a number of steps or at a global step (tf.train.StopAtStepHook).
#include "hooks/hook_registry.h"

namespace runhooks {

namespace {

// Unlike TensorFlow's hook, this one is reusable: each begin() resets the last step.
class StopAtStepHook : public RunHook {
 public:
  explicit StopAtStepHook(const Args& args) : args_(args) {
    const bool has_num = args.has("num_steps"), has_last = args.has("last_step");
    // The message of the R package tfestimators, including the leading blank.
    if (has_num && has_last) {
      invalid_argument(" Only one of num_steps or last_step can be specified");
    }
    if (!has_num && !has_last) invalid_argument("One of num_steps or last_step must be specified.");
  }
  std::string name() const override { return "StopAtStepHook"; }

  void begin(Graph& graph) override {
    step_.find(graph, name());
    run_args_.fetches = {step_.tensor()};
    run_args_.changed();
    has_last_step_ = false;
  }
  void after_create_session(Session& session, Coordinator&) override {
    if (has_last_step_) return;
    last_step_ = args_.has("last_step") ? args_.integer("last_step")
                                        : step_.now(session) + args_.integer("num_steps");
    has_last_step_ = true;
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    // The fetched value is the global step before the run. Like TensorFlow's hook, reads the
    // current step only if the hook would stop after an increase by 1.
    if (*values.result(0).data<int64_t>() + 1 < last_step_) return;
    if (step_.now(context.session()) >= last_step_) context.request_stop();
  }

 private:
  Args args_;
  GlobalStep step_;
  RunArgs run_args_;
  bool has_last_step_ = false;
  int64_t last_step_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    StopAtStepHook,
    "hook_stop_at_step, train.StopAtStepHook",
    {"num_steps = NULL: whole number. Stop after `num_steps` steps of this loop.",
     "last_step = NULL: whole number. Stop when the global step reaches `last_step`. Give exactly "
     "one of `num_steps` and `last_step`. At least one step is run."});

}  // namespace runhooks
