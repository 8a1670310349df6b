// Delays the first run until the global step reaches a value (tf.train.GlobalStepWaiterHook).
#include "base/clock.h"
#include "base/log.h"
#include "hooks/hook_registry.h"

namespace runhooks {

namespace {

constexpr double kPollSecs = 0.5;
constexpr int64_t kLogEverySteps = 1000;

class GlobalStepWaiterHook : public RunHook {
 public:
  explicit GlobalStepWaiterHook(const Args& args)
      : wait_until_step_(args.integer("wait_until_step")) {}
  std::string name() const override { return "GlobalStepWaiterHook"; }

  void begin(Graph& graph) override {
    step_.find(graph, "_GlobalStepWaiterHook");
    is_started_ = wait_until_step_ <= 0;
  }
  const RunArgs* before_run(RunContext& context) override {
    if (!is_started_) wait(context.session());
    is_started_ = true;
    return nullptr;
  }

 private:
  void wait(const Session& session) const {
    const std::string line =
        str_cat("Waiting for global step ", wait_until_step_, " before starting training.");
    if (step_.now(session) >= wait_until_step_) return;
    log(LogLevel::kInfo, line);
    int64_t logged_step = 0;
    for (int64_t step = 0; (step = step_.now(session)) < wait_until_step_;) {
      if (step - logged_step > kLogEverySteps) {
        log(LogLevel::kInfo, str_cat(line, " Current step is ", step, "."));
        logged_step = step;
      }
      sleep_seconds(kPollSecs);
    }
  }

  int64_t wait_until_step_;
  GlobalStep step_;
  bool is_started_ = false;
};

}  // namespace

RUNHOOKS_REGISTER_HOOK(
    GlobalStepWaiterHook,
    "hook_global_step_waiter, train.GlobalStepWaiterHook",
    {"wait_until_step: whole number. The global step to wait for. Does not wait if 0 or less."});

}  // namespace runhooks
