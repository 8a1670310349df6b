// Stops after a number of steps or at a global step (tf.train.StopAtStepHook).
#include "hooks/hook_registry.h"

namespace runhooks {

namespace {

// Unlike TensorFlow's, the object can be used again: the last step is worked out anew after each begin().
class StopAtStepHook : public RunHook {
 public:
  explicit StopAtStepHook(const Args& args) : args_(args) {
    const bool has_num = args.has("num_steps"), has_last = args.has("last_step");
    if (has_num && has_last) invalid_argument("Only one of num_steps or last_step can be specified.");
    if (!has_num && !has_last) invalid_argument("One of num_steps or last_step must be specified.");
  }
  std::string name() const override { return "StopAtStepHook"; }

  void begin(Graph& graph) override {
    run_args_.fetches = {required_global_step(graph, name())};
    ++run_args_.revision;
    knows_last_ = false;
  }
  void after_create_session(Session& session, Coordinator&) override {
    if (knows_last_) return;
    last_step_ = args_.has("last_step") ? args_.integer("last_step")
                                        : current_global_step(session) + args_.integer("num_steps");
    knows_last_ = true;
  }
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override {
    // The step is the one before the run; it is read back, since a run may add more than 1.
    if (*values.result(0).data<int64_t>() + 1 < last_step_) return;
    if (current_global_step(context.session()) >= last_step_) context.request_stop();
  }

 private:
  Args args_;
  RunArgs run_args_;
  bool knows_last_ = false;
  int64_t last_step_ = 0;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(StopAtStepHook);

}  // namespace runhooks
