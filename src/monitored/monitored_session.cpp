#include "monitored/monitored_session.h"

#include <algorithm>

#include "monitored/loop_observer.h"
#include "base/log.h"

namespace runhooks {

namespace {

const char kCreationLine[] =
    "An error was raised while a session was being created. This may be due to a preemption of a "
    "connected worker or parameter server. A new session will be created. This error may also "
    "occur due to a gRPC failure caused by high memory or network bandwidth usage in the parameter "
    "servers. If this error occurs repeatedly, try increasing the number of parameter servers "
    "assigned to the job. Error: ";
const char kRecoveryLine[] =
    "An error was raised. This may be due to a preemption in a connected worker or parameter "
    "server. The current session will be closed and a new session will be created. This error may "
    "also occur due to a gRPC failure caused by high memory or network bandwidth usage in the "
    "parameter servers. If this error occurs repeatedly, try increasing the number of parameter "
    "servers assigned to the job. Error: ";

// Of the exception that is being handled.
LoopFailure failure_in_flight() {
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

[[noreturn]] void fail_closed() {
  fail(Code::kFailedPrecondition, "Attempted to use a closed Session.");
}

struct WhileTrue {
  bool& flag;
  explicit WhileTrue(bool& f) : flag(f) { flag = true; }
  ~WhileTrue() { flag = false; }
};

bool ends_well(const Error& error) {
  return error.code() == Code::kOutOfRange || error.code() == Code::kStopIteration;
}

}  // namespace

MonitoredSession::MonitoredSession(std::shared_ptr<Graph> graph,
                                   std::unique_ptr<SessionCreator> creator,
                                   HookList hooks,
                                   MonitoredOptions options)
    : graph_(std::move(graph)),
      creator_(std::move(creator)),
      hooks_(std::move(hooks)),
      options_(std::move(options)),
      graph_was_finalized_(graph_->finalized()) {
  put_savers_last();
  if (LoopObserver* observer = LoopObserver::current()) observer->loop_made(hooks_);
  try {
    for (const HookPtr& hook : hooks_) {
      call_hook(hook, "begin", [this](RunHook& h) { h.begin(*graph_); });
    }
    create_session();
  } catch (...) {
    tell_failure(failure_in_flight());
    forget_saver();
    throw;
  }
}

MonitoredSession::~MonitoredSession() {
  if (!closed_) close_session();
  forget_saver();
}

// Where hooks have a state or change variables, what is saved must be what they have left after the
// step: their after_run() comes before the savers'. Else the order is TensorFlow's.
void MonitoredSession::put_savers_last() {
  const bool comes_first = std::any_of(hooks_.begin(), hooks_.end(), [](const HookPtr& hook) {
    return hook->has_state() || hook->changes_variables();
  });
  if (!comes_first) return;
  std::stable_partition(hooks_.begin(), hooks_.end(),
                        [](const HookPtr& hook) { return !hook->saves_checkpoints(); });
}

// A saver may be used again, by another session.
void MonitoredSession::forget_saver() {
  if (Saver* saver = creator_->saver()) saver->set_state_source(nullptr);
}

// The place is noted for whoever has to explain an error.
template <typename Call>
void MonitoredSession::call_hook(const HookPtr& hook, const char* method, Call call) {
  if (LoopObserver* observer = LoopObserver::current())
    observer->call(*hook, method, session_.get());
  const RunWhere::Scope scope(where_, hook.get(), method);
  call(*hook);
}

bool MonitoredSession::is_recoverable(const Error& error) const {
  return options_.recovers &&
         (error.code() == Code::kAborted || error.code() == Code::kUnavailable);
}

void MonitoredSession::create_session() {
  for (int failures = 0;;) {
    try {
      session_ = creator_->create_session();
      where_.session = session_.get();
      coordinator_.clear_stop();
      stop_requested_ = false;
      merges_.clear();
      restore_hooks();
      for (const HookPtr& hook : hooks_) {
        call_hook(hook, "after_create_session",
                  [this](RunHook& h) { h.after_create_session(*session_, coordinator_); });
      }
      return;
    } catch (const Error& error) {
      const bool again = is_recoverable(error) && ++failures < options_.max_failures;
      if (!again) {
        close_session();
        throw;
      }
      log(LogLevel::kInfo, kCreationLine + error.message());
    } catch (...) {
      close_session();
      throw;
    }
  }
}

// What hooks gave for the checkpoint that the session comes from goes back to them.
void MonitoredSession::restore_hooks() {
  Saver* saver = creator_->saver();
  if (!saver) return;
  for (const HookPtr& hook : hooks_) {
    auto state = saver->hook_states().find(hook->name());
    if (state == saver->hook_states().end()) continue;
    call_hook(hook, "restore_state", [&](RunHook& h) { h.restore_state(state->second); });
  }
  saver->set_state_source([this] { return hook_states(); });
}

HookStates MonitoredSession::hook_states() {
  HookStates states;
  for (const HookPtr& hook : hooks_) {
    Tensor state;
    call_hook(hook, "save_state", [&](RunHook& h) { state = h.save_state(); });
    if (state.is_valid()) states[hook->name()] = state;
  }
  return states;
}

// What goes wrong here must hide neither why the loop ends nor that from the hooks to come.
void MonitoredSession::tell_failure(const LoopFailure& failure) {
  for (const HookPtr& hook : hooks_) {
    try {
      hook->on_error(session_.get(), failure);
    } catch (const std::exception& error) {
      log(LogLevel::kWarn, str_cat("on_error() of ", hook->name(), " failed: ", error.what()));
    } catch (const ForeignUnwind&) {
      log(LogLevel::kWarn, str_cat("on_error() of ", hook->name(), " was left by a jump."));
    }
  }
}

void MonitoredSession::close_session() {
  merges_.clear();
  where_.session = nullptr;
  if (session_) session_->close();
  session_.reset();
}

Session& MonitoredSession::session() {
  if (!session_) fail_closed();
  return *session_;
}

// What recovers says that it is over instead of raising what the coordinator was told: close()
// will.
bool MonitoredSession::should_stop() {
  if (closed_) return true;
  if (!session_) return false;  // lost; the next run makes a new one
  const std::exception_ptr why = coordinator_.requested_exception();
  if (!why) return coordinator_.should_stop() || stop_requested_;
  if (!options_.recovers) coordinator_.raise_requested_exception();
  try {
    std::rethrow_exception(why);
  } catch (const Error& error) {
    return !gives_up_session(error);
  } catch (...) {
    return true;
  }
}

// A hook that ran the session it belongs to would be called again, and so on.
void MonitoredSession::check_open() const {
  if (closed_) fail(Code::kFailedPrecondition, "Session is already closed.");
  if (is_running_) {
    fail(Code::kFailedPrecondition, "A session cannot be run or closed by what it runs.");
  }
  if (!where_.hook) return;
  fail(Code::kFailedPrecondition, "The session that calls hook `", where_.hook->name(),
       "` cannot be run or closed by it.");
}

Session& MonitoredSession::ready_session() {
  check_open();
  if (!session_) create_session();
  return *session_;
}

const Plan& MonitoredSession::run_in_step(const RunArgs& caller) {
  ready_session();
  const Plan& plan = run_once(caller);
  if (options_.check_interrupt) options_.check_interrupt();
  return plan;
}

bool MonitoredSession::gives_up_session(const Error& error) {
  if (!is_recoverable(error) || is_busy()) return false;
  log(LogLevel::kInfo, kRecoveryLine + error.message());
  close_session();
  return true;
}

const Plan& MonitoredSession::run(const RunArgs& caller) {
  check_open();
  for (int failures = 0;;) {
    try {
      return run_in_step(caller);
    } catch (const Error& error) {
      if (++failures >= options_.max_failures || !gives_up_session(error)) throw;
    }
  }
}

const Plan& MonitoredSession::run_once(const RunArgs& caller) {
  if (stop_requested_) {
    fail(Code::kFailedPrecondition, "Run called even after should_stop requested.");
  }
  RunContext context(*session_, caller);
  call_before_run(context, caller);
  collect_feeds(caller);
  const Merged& merged = *merges_.front();
  try {
    const WhileTrue running(is_running_);
    merged.plan->run(merged.feed_values, merged.options, run_metadata_);
  } catch (const Error&) {
    coordinator_.raise_requested_exception();  // says better why the run failed
    throw;
  }
  // A hook that runs the session itself must not change the results that others have still to see.
  Plan& plan = *merged.plan;
  const Plan::Hold hold(plan);
  for (size_t i = 0; i < hooks_.size(); ++i) {
    const RunValues values(plan, merged.hooks[i].results, merged.options, run_metadata_);
    const bool was_requested = context.stop_requested();
    call_hook(hooks_[i], "after_run", [&](RunHook& h) { h.after_run(context, values); });
    if (context.stop_requested() != was_requested && LoopObserver::current()) {
      LoopObserver::current()->stop_requested(*hooks_[i]);
    }
  }
  stop_requested_ = stop_requested_ || context.stop_requested();
  return plan;
}

void MonitoredSession::call_before_run(RunContext& context, const RunArgs& caller) {
  asked_.clear();
  for (size_t i = 0; i < hooks_.size(); ++i) {
    const RunArgs* args = nullptr;
    call_hook(hooks_[i], "before_run", [&](RunHook& h) { args = h.before_run(context); });
    asked_.push_back(args);
    if (args && !args->feeds.empty()) check_feeds(context, i);
  }
  for (const auto& feed : caller.feeds) {
    for (size_t i = 0; i < hooks_.size(); ++i) {
      if (!asked_[i]) continue;
      for (const auto& other : asked_[i]->feeds) {
        if (other.first != feed.first) continue;
        fail(Code::kFailedPrecondition,
             "Same tensor is fed by a SessionRunHook and user. Conflicting feed: '",
             feed.first.name(), "' by hook `", hooks_[i]->name(), "` and by the caller.");
      }
    }
  }
  // a hook may have closed the session, and its plans with it
  if (session_->is_closed()) fail_closed();
  merge(caller);
}

// Two hooks must not feed one tensor; this is found as soon as the second one has returned.
void MonitoredSession::check_feeds(const RunContext&, size_t hook_index) const {
  for (size_t i = 0; i < hook_index; ++i) {
    if (!asked_[i]) continue;
    for (const auto& feed : asked_[hook_index]->feeds) {
      for (const auto& other : asked_[i]->feeds) {
        if (other.first != feed.first) continue;
        fail(Code::kFailedPrecondition, "Same tensor is fed by two hooks. Conflicting feed: '",
             feed.first.name(), "' by hooks `", hooks_[i]->name(), "` and `",
             hooks_[hook_index]->name(), "`.");
      }
    }
  }
}

bool MonitoredSession::is_asked_for(const Merged& merged, const RunArgs& caller) const {
  if (!merged.caller.is_of(&caller)) return false;
  for (size_t i = 0; i < asked_.size(); ++i) {
    if (!merged.hooks[i].is_of(asked_[i])) return false;
  }
  return true;
}

void MonitoredSession::merge(const RunArgs& caller) {
  constexpr size_t kMostKept = 8;
  auto found = merges_.begin();
  while (found != merges_.end() && !is_asked_for(**found, caller)) ++found;
  if (found == merges_.end()) {
    if (merges_.size() == kMostKept) merges_.pop_back();
    merges_.push_back(std::make_unique<Merged>(make_merged(caller)));
    found = merges_.end() - 1;
  }
  std::rotate(merges_.begin(), found, found + 1);
}

MonitoredSession::Merged MonitoredSession::make_merged(const RunArgs& caller) {
  std::vector<Fetch> fetches;
  std::vector<Output> feeds;
  auto add = [&](const RunArgs* args, bool shares) {
    Merged::Part part;
    part.args = args;
    if (!args) return part;
    part.revision = args->revision;
    for (const Fetch& fetch : args->fetches) {
      // What several hooks ask for is computed and copied once. The caller's results stay at the
      // front.
      auto found = shares ? std::find(fetches.begin(), fetches.end(), fetch) : fetches.end();
      part.results.push_back(static_cast<size_t>(found - fetches.begin()));
      if (found == fetches.end()) fetches.push_back(fetch);
    }
    for (const auto& feed : args->feeds) feeds.push_back(feed.first);
    return part;
  };
  Merged merged;
  merged.caller = add(&caller, false);
  merged.options = caller.options;
  for (const RunArgs* args : asked_) {
    merged.hooks.push_back(add(args, true));
    if (args) merged.options.merge(args->options);
  }
  merged.plan = &session_->plan(fetches, feeds);
  return merged;
}

void MonitoredSession::collect_feeds(const RunArgs& caller) {
  std::vector<Tensor>& values = merges_.front()->feed_values;
  values.clear();
  for (const auto& feed : caller.feeds) values.push_back(feed.second);
  for (const RunArgs* args : asked_) {
    if (!args) continue;
    for (const auto& feed : args->feeds) values.push_back(feed.second);
  }
}

void MonitoredSession::close() {
  if (closed_) return;
  check_open();
  closed_ = true;
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
    tell_failure(failure_in_flight());
    throw;
  }
}

void MonitoredSession::close_after(const LoopFailure& failure) {
  if (closed_ || is_busy()) return;
  closed_ = true;
  tell_failure(failure);
  close_session();
  if (!graph_was_finalized_) graph_->unfinalize();
}

void step_in_block(MonitoredSession& session, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    if (!ends_well(error)) {
      session.close_after(failure_in_flight());
      throw;
    }
    session.close();
  } catch (...) {
    session.close_after(failure_in_flight());
    throw;
  }
}

void run_block(MonitoredSession& session, const std::function<void()>& body) {
  step_in_block(session, body);
  session.close();
}

}  // namespace runhooks
