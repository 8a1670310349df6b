// What lives here: EarlyStoppingHook, which asks now and then whether training should stop.
// Who may use it: hooks, the bindings.
// What it must not know: why it should stop, R.
#pragma once

#include "hooks/hook_registry.h"

namespace runhooks {

// The arguments that all such hooks have, as ArgSpec has them: the interval, and who tells the
// user.
#define RUNHOOKS_STOP_ARGUMENTS                                                   \
  "run_every_secs = 60: plain number or NULL. Ask every so many seconds.",        \
      "run_every_steps = NULL: whole number. Ask every so many steps; then give " \
      "`run_every_secs = NULL`.",                                                 \
      "say = NULL: function"

// What tf.estimator.experimental.make_early_stopping_hook gives. It asks in after_run(). A stop is
// also noted in the variable signal_early_stopping/STOP, which checkpoints hold; one of a loop
// without such a hook may lack it. What users should know goes to the function `say`, as say(kind,
// text) with the kinds "message" and "warning"; to the log where there is none.
class EarlyStoppingHook : public RunHook {
 public:
  // `should_stop_fn` may be missing where should_stop() is overridden.
  explicit EarlyStoppingHook(const Args& args);
  std::string name() const override { return "_StopOnPredicateHook"; }

  void begin(Graph& graph) override;
  const RunArgs* before_run(RunContext&) override { return &run_args_; }
  void after_run(RunContext& context, const RunValues& values) override;
  void end(Session& session) override;
  // Why it has stopped, in a sentence without its first words.
  virtual std::string reason() const { return "as `should_stop_fn` said"; }

 protected:
  // Whether to ask now, whatever the interval says.
  virtual bool has_news() { return false; }
  // Asked after a run, while the session may still be changed.
  virtual bool should_stop(Session& session);
  bool has_stopped() const { return stopped_step_ >= 0; }
  void say(const char* kind, const std::string& text) const;
  const GlobalStep& step() const { return step_; }
  const VariablePtr& stop_variable() const { return stop_; }

 private:
  std::shared_ptr<Callable> should_stop_fn_, say_;
  Trigger trigger_;
  GlobalStep step_;
  VariablePtr stop_;
  int64_t stopped_step_ = -1;
  RunArgs run_args_;
};

}  // namespace runhooks
