#include "hooks/early_stopping_hook.h"

#include "base/log.h"
#include "graph/saveable.h"
#include "graph/variable.h"

namespace runhooks {

EarlyStoppingHook::EarlyStoppingHook(const Args& args)
    : should_stop_fn_(args.callable("should_stop_fn")), notify_(args.callable("notify")) {
  if (args.has("run_every_secs") && args.has("run_every_steps")) {
    invalid_argument("Only one of `run_every_secs` and `run_every_steps` must be set.");
  }
  trigger_ = required_trigger_of(args, "run_every_steps", "run_every_secs");
}

void EarlyStoppingHook::begin(Graph& graph) {
  trigger_.reset();
  stop_step_ = -1;
  step_.find(graph, "early stopping");
  VariableScope scope(graph, "signal_early_stopping");
  scope.options().reuse = VariableStore::Reuse::kAuto;  // several hooks share the variable
  VariableOptions options;
  options.dtype = DType::kBool;
  options.initializer = zeros_initializer();
  options.trainable = false;
  stop_variable_ = graph.variables().get("STOP", Shape{}, options);
  mark_optional_in_checkpoint(stop_variable_);
  run_args_.fetches = {step_.tensor()};
  run_args_.changed();
}

void EarlyStoppingHook::after_run(RunContext& context, const RunValues& values) {
  const int64_t step = *values.result(0).data<int64_t>();
  const bool is_due = trigger_.should_trigger(step);
  if (is_due) trigger_.update(step);
  const bool must_check = is_check_required() || is_due;
  if (!must_check || !should_stop(context.session())) return;
  stop_step_ = step_.now(context.session());
  log(LogLevel::kInfo, str_cat("Requesting early stopping at global step ", step));
  context.session().assign(*stop_variable_, Tensor::scalar<bool>(true));
  context.request_stop();
}

// Reports the stop at the end, so that the message does not interrupt the progress bar.
void EarlyStoppingHook::end(Session&) {
  if (!has_stopped()) return;
  notify("message", str_cat("Training stopped early at step ", stop_step_, ", ", reason(), "."));
}

bool EarlyStoppingHook::should_stop(Session&) {
  if (!should_stop_fn_) return false;
  const Value result = should_stop_fn_->call({});
  if (!result.get_if<bool>()) {
    invalid_argument("`should_stop_fn` must return TRUE or FALSE, not ", result.kind(), ".");
  }
  return *result.get_if<bool>();
}

RUNHOOKS_REGISTER_HOOK(
    EarlyStoppingHook,
    "hook_early_stopping",
    {"should_stop_fn: function. A function without arguments that returns `TRUE` to stop.",
     RUNHOOKS_STOP_ARGUMENTS});

}  // namespace runhooks
