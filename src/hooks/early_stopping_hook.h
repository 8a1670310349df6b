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

// Checks in after_run(). A stop also sets the variable signal_early_stopping/STOP. Checkpoints
// contain this variable, but checkpoints without it can be restored. Messages are passed to the
// argument `notify`, called as notify(kind, text) with kind "message" or "warning". Without
// `notify`, they are logged.
class EarlyStoppingHook : public RunHook {
 public:
  // Subclasses that override should_stop() need no `should_stop_fn`.
  explicit EarlyStoppingHook(const Args& args);
  std::string name() const override { return "_StopOnPredicateHook"; }

  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override;
  void end(Session& session) override;
  // Returns the reason for the stop, as a clause at the end of a sentence.
  virtual std::string reason() const { return "as `should_stop_fn` said"; }

 protected:
  // Returns true if the hook must check after this run, although its trigger is not due.
  virtual bool is_check_required() { return false; }
  // Returns true to stop the training. Called after a run, and may change the session.
  virtual bool should_stop(Session& session);
  bool has_stopped() const { return stop_step_ >= 0; }
  void notify(const char* kind, const std::string& text) const { notify_user(notify_, kind, text); }
  const GlobalStep& step() const { return step_; }
  const VariablePtr& stop_variable() const { return stop_variable_; }

 private:
  std::shared_ptr<Callable> should_stop_fn_, notify_;
  Trigger trigger_;
  GlobalStep step_;
  VariablePtr stop_variable_;
  int64_t stop_step_ = -1;
  RunArgs run_args_;
};

}  // namespace runhooks
