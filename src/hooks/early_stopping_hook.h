// What lives here: EarlyStoppingHook, which asks now and then whether training should stop.
// Who may use it: hooks, the bindings.
// What it must not know: why it should stop, R.
#pragma once

#include "hooks/hook_registry.h"

namespace runhooks {

// What tf.estimator.experimental.make_early_stopping_hook gives. It asks in after_run(), at the
// step before the run. A stop is also noted in the variable signal_early_stopping/STOP, which
// checkpoints hold.
class EarlyStoppingHook : public RunHook {
 public:
  // `should_stop_fn` may be missing where should_stop() is overridden.
  explicit EarlyStoppingHook(const Args& args);
  std::string name() const override { return "_StopOnPredicateHook"; }

  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override;

 protected:
  // Asked after a run, while the session may still be changed.
  virtual bool should_stop(Session& session);
  const GlobalStep& step() const { return step_; }
  const VariablePtr& stop_variable() const { return stop_; }

 private:
  std::shared_ptr<Callable> should_stop_fn_;
  Trigger trigger_;
  GlobalStep step_;
  VariablePtr stop_;
  RunArgs run_args_;
};

}  // namespace runhooks
