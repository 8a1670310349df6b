#include "monitored/monitored_session.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/log.h"
#include "session/partial_run.h"

namespace runhooks {

namespace {

const char kCreationErrorText[] =
    "An error was raised while a session was being created. This may be due to a preemption of a "
    "connected worker or parameter server. A new session will be created. This error may also "
    "occur due to a gRPC failure caused by high memory or network bandwidth usage in the parameter "
    "servers. If this error occurs repeatedly, try increasing the number of parameter servers "
    "assigned to the job. Error: ";
const char kRecoveryText[] =
    "An error was raised. This may be due to a preemption in a connected worker or parameter "
    "server. The current session will be closed and a new session will be created. This error may "
    "also occur due to a gRPC failure caused by high memory or network bandwidth usage in the "
    "parameter servers. If this error occurs repeatedly, try increasing the number of parameter "
    "servers assigned to the job. Error: ";

LoopFailure current_failure() {
  LoopFailure failure;
  failure.error = std::current_exception();
  try {
    throw;
  } catch (const ForeignUnwind& unwind) {
    failure.is_interrupt = unwind.is_interrupt();
  } catch (...) {
  }
  return failure;
}

[[noreturn]] void throw_closed() {
  fail(Code::kFailedPrecondition, "Attempted to use a closed Session.");
}

struct ScopedFlag {
  bool& flag;
  explicit ScopedFlag(bool& target) : flag(target) { flag = true; }
  ~ScopedFlag() { flag = false; }
};

bool is_normal_end(const Error& error) {
  return error.code() == Code::kOutOfRange || error.code() == Code::kStopIteration;
}

}  // namespace

std::function<HookList(HookList)>& hook_decorator() {
  static auto* decorator = new std::function<HookList(HookList)>;
  return *decorator;
}

MonitoredSession::MonitoredSession(std::shared_ptr<Graph> graph,
                                   std::unique_ptr<SessionCreator> creator,
                                   HookList hooks,
                                   MonitoredOptions options)
    : graph_(std::move(graph)),
      creator_(std::move(creator)),
      hooks_(std::move(hooks)),
      options_(std::move(options)),
      graph_was_finalized_(graph_->finalized()) {
  order_hooks();
  make_hook_saveables();
  if (hook_decorator()) hooks_ = hook_decorator()(std::move(hooks_));
  try {
    for (const HookPtr& hook : hooks_) {
      call_hook(hook, "begin", [this](RunHook& h) { h.begin(*graph_); });
    }
    create_session();
  } catch (...) {
    notify_failure(current_failure());
    detach_saver();
    throw;
  }
}

MonitoredSession::~MonitoredSession() {
  if (!is_closed_) close_session();
  detach_saver();
}

// Checkpoints must contain the states of hooks after the step, and the variables that hooks have
// changed. So checkpoint savers are called after these hooks. Without hooks that have a state or
// change variables, the order is TensorFlow's.
void MonitoredSession::order_hooks() {
  const bool needs_order = std::any_of(hooks_.begin(), hooks_.end(), [](const HookPtr& hook) {
    return hook->has_state() || hook->changes_variables();
  });
  if (!needs_order) return;
  // Hooks that change variables are called after all other hooks, so that they see the effects of
  // the others.
  const auto rank = [](const HookPtr& hook) {
    if (hook->saves_checkpoints()) return 2;
    return hook->changes_variables() ? 1 : 0;
  };
  std::stable_sort(hooks_.begin(), hooks_.end(),
                   [&rank](const HookPtr& a, const HookPtr& b) { return rank(a) < rank(b); });
}

void MonitoredSession::detach_saver() {
  if (saver_) saver_->detach();
}

// Calls a method of a hook. Meanwhile, `location_` names the hook and the method for error
// messages.
template <typename Call>
void MonitoredSession::call_hook(const HookPtr& hook, const char* method, Call call) {
  const LoopLocation::Scope scope(location_, hook.get(), method);
  try {
    call(*hook);
  } catch (...) {
    record_stop_cause(*hook, method);
    throw;
  }
}

// Records only the first cause of a stop. Later causes are consequences of the first.
void MonitoredSession::record_stop_cause(const RunHook& hook, const char* method) {
  if (!stop_cause_.hook) stop_cause_ = {&hook, method};
}

void MonitoredSession::record_stop(const RunHook& hook, const char* method, bool is_requested) {
  if (is_requested || coordinator_.should_stop()) record_stop_cause(hook, method);
}

bool MonitoredSession::is_recoverable(const Error& error) const {
  return options_.recovers && !options_.has_peers &&
         (error.code() == Code::kAborted || error.code() == Code::kUnavailable);
}

void MonitoredSession::create_session() {
  for (int failures = 0;;) {
    try {
      attach_hooks();
      session_ = creator_->create_session();
      location_.session = session_.get();
      if (creator_->is_chief()) chief_ = std::make_unique<ChiefSession>(*session_);
      coordinator_.clear_stop();
      stop_requested_ = false;
      stop_cause_ = StopCause();
      requests_.clear();
      restore_hook_states();
      for (const HookPtr& hook : hooks_) {
        call_hook(hook, "after_create_session",
                  [this](RunHook& h) { h.after_create_session(*session_, coordinator_); });
        record_stop(*hook, "after_create_session", false);
      }
      if (options_.has_peers) vote_with_peers();
      return;
    } catch (const Error& error) {
      const bool may_retry = is_recoverable(error) && ++failures < options_.max_failures;
      if (!may_retry) {
        close_session();
        throw;
      }
      log(LogLevel::kInfo, kCreationErrorText + error.message());
    } catch (...) {
      close_session();
      throw;
    }
  }
}

void MonitoredSession::make_hook_saveables() {
  for (const HookPtr& hook : hooks_) {
    if (!hook->has_state()) continue;
    HookSaveable::Callbacks callbacks;
    callbacks.save = [this, hook](NamedTensors* state) {
      if (has_failed_) return false;
      call_hook(hook, "save_state", [state](RunHook& h) { *state = h.save_state(); });
      return true;
    };
    callbacks.read = [this, hook](const NamedTensors& state) {
      std::function<void()> restore;
      call_hook(hook, "restore_state", [&](RunHook& h) { restore = h.read_state(state); });
      return [this, hook, restore] {
        call_hook(hook, "restore_state", [&restore](RunHook&) { restore(); });
      };
    };
    const std::string key = hook->state_key();
    const auto num_same_key =
        std::count_if(hook_saveables_.begin(), hook_saveables_.end(),
                      [&key](const auto& other) { return other->key() == key; });
    hook_saveables_.push_back(std::make_shared<HookSaveable>(
        hook->name(), key, static_cast<int>(num_same_key), callbacks));
  }
  HookSaveable::set_unnamed_peers(hook_saveables_);
}

void MonitoredSession::attach_hooks() {
  if (hook_saveables_.empty()) return;
  saver_ = creator_->ready_saver();
  if (saver_) saver_->attach({hook_saveables_.begin(), hook_saveables_.end()});
}

void MonitoredSession::restore_hook_states() {
  for (const auto& saveable : hook_saveables_) saveable->restore_hook();
}

// Called after an interrupt, because a checkpoint is saved then: the states of hooks in it must be
// of the same step as the variables.
void MonitoredSession::snapshot_hook_states() {
  for (const auto& saveable : hook_saveables_) {
    std::string problem = "R left it by a non-local exit";
    try {
      saveable->snapshot_state();
      continue;
    } catch (const std::exception& error) {
      problem = error.what();
    } catch (const ForeignUnwind&) {
    }
    warn("hook",
         str_cat("Could not save the state of hook `", saveable->hook(),
                 "` after the interrupt; the checkpoint keeps its last saved state. save_state() "
                 "failed: ",
                 problem));
  }
}

// Calls on_error() of all hooks. Errors of these calls become warnings, so that they neither hide
// the error of the loop nor keep later hooks from being called.
void MonitoredSession::notify_failure(LoopFailure failure) {
  if (failure.is_interrupt && was_partial_run_) {
    // The variables are inconsistent, so hooks must not save them.
    failure.is_interrupt = false;
    warn("hook",
         "Interrupted during a variable update. The variables are inconsistent, so no checkpoint "
         "was saved.");
  }
  if (failure.is_interrupt && session_ && !has_failed_) snapshot_hook_states();
  has_failed_ = true;  // hooks are not called for their states any more
  for (const HookPtr& hook : hooks_) {
    try {
      hook->on_error(session_.get(), failure);
    } catch (const std::exception& error) {
      warn("hook", str_cat("on_error() of ", hook->name(), " failed: ", error.what()));
    } catch (const ForeignUnwind&) {
      warn("hook", str_cat("R left on_error() of ", hook->name(), " by a non-local exit."));
    }
  }
}

std::unique_ptr<Session> MonitoredSession::release_session() {
  requests_.clear();
  location_.session = nullptr;
  chief_.reset();
  return std::move(session_);
}

void MonitoredSession::close_session() {
  if (const std::unique_ptr<Session> session = release_session()) session->close();
}

Session& MonitoredSession::session() {
  if (!session_) throw_closed();
  return *session_;
}

// An exception may have been reported to the coordinator. A session that recovers
// (MonitoredOptions) then returns true, and close() raises the exception.
bool MonitoredSession::should_stop() {
  if (is_closed_) return true;
  if (!session_) return false;  // lost; the next run creates a new one
  const std::exception_ptr reason = coordinator_.requested_exception();
  if (!reason) return coordinator_.should_stop() || stop_requested_;
  if (!options_.recovers) coordinator_.raise_requested_exception();
  try {
    std::rethrow_exception(reason);
  } catch (const Error& error) {
    return !close_if_recoverable(error);
  } catch (...) {
    return true;
  }
}

void MonitoredSession::check_open() const {
  if (is_closed_) fail(Code::kFailedPrecondition, "Session is already closed.");
  check_caller();
}

void MonitoredSession::check_caller() const {
  if (is_running_) {
    fail(Code::kFailedPrecondition,
         "Cannot run or close this session: it is called from inside its own run.");
  }
  if (!location_.hook) return;
  fail(Code::kFailedPrecondition, "Hook `", location_.hook->name(),
       "` cannot run or close the session that is calling it.");
}

Session& MonitoredSession::ready_session() {
  check_open();
  if (!session_) create_session();
  return *session_;
}

const Executor& MonitoredSession::run_in_step(const RunArgs& caller) {
  ready_session();
  if (options_.has_peers) return run_with_peers(caller);
  const Executor& executor = run_once(caller);
  check_interrupt();
  return executor;
}

// Each process votes once per step, and all of them get the same result. A process that leaves the
// step early votes at the point where the other processes wait: at the barrier before the update,
// or at the end of the step.
const Executor& MonitoredSession::run_with_peers(const RunArgs& caller) {
  struct CloseBarrier {
    ~CloseBarrier() { StepBarrier::close(); }
  } close_barrier;
  StepBarrier::open();
  try {
    const Executor& executor = run_once(caller);
    check_interrupt();
    vote_with_peers();
    return executor;
  } catch (const Error& error) {
    if (is_normal_end(error)) notify_peers(StepDecision::kNoData);
    throw;
  } catch (const ForeignUnwind& unwind) {
    if (unwind.is_interrupt()) notify_peers(StepDecision::kInterrupted);
    throw;
  }
}

void MonitoredSession::notify_peers(StepDecision reason) {
  if (StepBarrier::is_open()) return StepBarrier::vote_abort(reason);
  if (!StepBarrier::is_passed()) return;  // the other processes have ended the step, too
  if (!has_run_executor_) {
    fail(Code::kInternal,
         "This process failed in the middle of a distributed step; the other processes cannot "
         "complete it.");
  }
  StepBarrier::close();
  vote(reason);
}

void MonitoredSession::vote_with_peers() {
  const bool stops = stop_requested_ || coordinator_.should_stop();
  const VoteResult result = vote(stops ? StepDecision::kStops : StepDecision::kYes);
  StepBarrier::close();
  if (result.goes_on == StepDecision::kYes) return;
  if (result.goes_on == StepDecision::kInterrupted) interrupt_with(result.rank);
  stop_requested_ = true;
}

bool MonitoredSession::close_if_recoverable(const Error& error) {
  if (!is_recoverable(error) || is_busy()) return false;
  log(LogLevel::kInfo, kRecoveryText + error.message());
  close_session();
  return true;
}

const Executor& MonitoredSession::run(const RunArgs& caller) {
  check_open();
  for (int failures = 0;;) {
    try {
      return run_in_step(caller);
    } catch (const Error& error) {
      if (++failures >= options_.max_failures || !close_if_recoverable(error)) throw;
    }
  }
}

const Executor& MonitoredSession::run_once(const RunArgs& caller) {
  if (stop_requested_) {
    fail(Code::kFailedPrecondition, "Run called even after should_stop requested.");
  }
  RunContext context(*session_, caller);
  was_partial_run_ = has_run_executor_ = false;
  requests_.begin();
  for (const HookPtr& hook : hooks_) {
    const RunArgs* args = nullptr;
    call_hook(hook, "before_run", [&](RunHook& h) { args = h.before_run(context); });
    record_stop(*hook, "before_run", context.stop_requested());
    requests_.add(args);
  }
  session_->check_open();  // a hook may have closed it
  const MergedRun& merged = requests_.merge(*session_, caller);
  Executor& executor = *merged.executor;
  try {
    const ScopedFlag running(is_running_);
    executor.run(merged.feed_values, merged.options, run_metadata_);
  } catch (const Error&) {
    coordinator_.raise_requested_exception();  // the cause of this error, if there is one
    throw;
  } catch (...) {
    was_partial_run_ = last_run_was_partial();
    throw;
  }
  has_run_executor_ = true;
  // Keeps the results valid for later hooks, even if a hook runs the session itself.
  const Executor::Retain retained(executor);
  for (size_t i = 0; i < hooks_.size(); ++i) {
    const RunValues values(executor, merged.hooks[i].results, merged.options, run_metadata_);
    call_hook(hooks_[i], "after_run", [&](RunHook& h) { h.after_run(context, values); });
    record_stop(*hooks_[i], "after_run", context.stop_requested());
  }
  stop_requested_ = stop_requested_ || context.stop_requested();
  return executor;
}

void MonitoredSession::close() {
  check_caller();
  if (is_closed_) return;
  is_closed_ = true;
  struct Finish {
    MonitoredSession& self;
    ~Finish() {
      self.close_session();
      if (!self.graph_was_finalized_) self.graph_->unfinalize();
    }
  } finish{*this};
  if (!session_) return;
  try {
    for (const HookPtr& hook : hooks_) {
      call_hook(hook, "end", [this](RunHook& h) { h.end(*session_); });
    }
    coordinator_.raise_requested_exception();
  } catch (...) {
    notify_failure(current_failure());
    throw;
  }
  creator_->recycle_session(release_session());
}

void MonitoredSession::close_after_failure(const LoopFailure& failure) {
  if (is_closed_ || is_busy()) return;
  is_closed_ = true;
  notify_failure(failure);
  close_session();
  if (!graph_was_finalized_) graph_->unfinalize();
}

void step_in_block(MonitoredSession& session, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (!is_normal_end(error)) {
      session.close_after_failure(current_failure());
      throw;
    }
    session.close();
  } catch (...) {
    session.close_after_failure(current_failure());
    throw;
  }
}

void run_block(MonitoredSession& session, const std::function<void()>& body) {
  step_in_block(session, body);
  session.close();
}

}  // namespace runhooks
