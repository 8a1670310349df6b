// EarlyStoppingHook: stops training when a function returns true
// (tf.estimator.experimental.make_early_stopping_hook).
#pragma once

#include "hooks/hook_registry.h"

namespace runhooks {

// Arguments of all early stopping hooks, as ArgSpec declarations. `notify` receives messages for
// the user.
#define RUNHOOKS_STOP_ARGUMENTS                                                        \
  "run_every_secs = 60: plain number or NULL. Check every `run_every_secs` seconds.",  \
      "run_every_steps = NULL: whole number. Check every `run_every_steps` steps. If " \
      "given, set `run_every_secs = NULL`.",                                           \
      "notify = NULL: function"

// Checks in after_run(). A stop also sets the variable signal_early_stopping/STOP, which is saved
// but optional in checkpoints. Messages go to the argument `notify`, called as notify(kind, text)
// with kind "message" or "warning", or else to the log.
class EarlyStoppingHook : public RunHook {
 public:
  // Subclasses that override should_stop() need no `should_stop_fn`.
  explicit EarlyStoppingHook(const Args& args);
  std::string name() const override { return "_StopOnPredicateHook"; }

  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override;
  void end(Session& session) override;
  // The reason for the stop, as a clause that ends a sentence.
  virtual std::string reason() const { return "as `should_stop_fn` said"; }

 protected:
  virtual bool must_check_now() { return false; }
  // Called after a run, while the session may still be changed.
  virtual bool should_stop(Session& session);
  bool has_stopped() const { return stopped_step_ >= 0; }
  void notify_user(const char* kind, const std::string& text) const;
  const GlobalStep& step() const { return step_; }
  const VariablePtr& stop_variable() const { return stop_; }

 private:
  std::shared_ptr<Callable> should_stop_fn_, notify_;
  Trigger trigger_;
  GlobalStep step_;
  VariablePtr stop_;
  int64_t stopped_step_ = -1;
  RunArgs run_args_;
};

}  // namespace runhooks
