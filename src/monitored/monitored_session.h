// MonitoredSession: a session that calls hooks around each run and recovers from lost sessions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/step_barrier.h"
#include "monitored/hook_saveable.h"
#include "monitored/run_requests.h"
#include "monitored/session_creator.h"
#include "session/run_hook.h"
#include "session/loop_location.h"

namespace runhooks {

struct MonitoredOptions {
  // Create a new session and retry the run after an aborted or unavailable error.
  bool recovers = true;
  // Rethrow the error after this many failures of one run. TensorFlow retries forever.
  int max_failures = 10;
  // Other processes run the same steps; either all continue or none (cluster/step_barrier.h).
  // A lost session cannot be recreated then.
  bool has_peers = false;
};

// The hook that ended a loop, by a stop request or an error. Empty if the input or the caller did.
struct StopCause {
  const RunHook* hook = nullptr;
  const char* method = "";
};

// Lets trace tests wrap the hooks of every new loop. Empty by default.
std::function<HookList(HookList)>& hook_decorator();

// tf.train.MonitoredSession, or SingularMonitoredSession if `recovers` is false. Calls happen in
// TensorFlow's order, as recorded in the golden traces, except that a second close() is a no-op
// and the number of recoveries is limited.
class MonitoredSession {
 public:
  // Calls begin() of each hook, creates the session, and calls after_create_session() of each.
  MonitoredSession(std::shared_ptr<Graph> graph,
                   std::unique_ptr<SessionCreator> creator,
                   HookList hooks,
                   MonitoredOptions options = {});
  ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  bool should_stop();
  // Runs one step with the hooks. The caller's fetches come first in the results, in order.
  const Executor& run(const RunArgs& caller);

  // Building blocks of run(), for a step function that repeats several runs after a failure.
  // close_if_recoverable() returns true if the session was closed and the step may be retried.
  Session& ready_session();
  const Executor& run_in_step(const RunArgs& caller);
  bool close_if_recoverable(const Error& error);
  int max_failures() const { return options_.max_failures; }
  const RunMetadata& run_metadata() const { return run_metadata_; }

  // Normal end: calls end() of each hook until one fails. The session is closed in any case.
  void close();
  // End after an error or interrupt: calls on_error() of each hook, but no end().
  void close_after(const LoopFailure& failure);
  bool is_closed() const { return closed_; }
  // Throws if the session is closed, is running, or is calling one of its hooks.
  void check_open() const;

  Graph& graph() const { return *graph_; }
  bool has_session() const { return session_ != nullptr; }
  Session& session();
  Coordinator& coordinator() { return coordinator_; }
  const HookList& hooks() const { return hooks_; }
  const StopCause& stop_cause() const { return stop_cause_; }

 private:
  void check_caller() const;
  bool is_busy() const { return is_running_ || where_.hook; }
  template <typename Call>
  void call_hook(const HookPtr& hook, const char* method, Call call);
  void record_stop_cause(const RunHook& hook, const char* method);
  void record_stop(const RunHook& hook, const char* method, bool is_requested);
  void order_hooks();
  void create_session();
  void make_hook_saveables();
  void attach_hooks();
  void restore_hook_states();
  void snapshot_hook_states();
  void close_session();
  void recycle_session();
  void notify_failure(LoopFailure failure);
  void detach_saver();
  const Executor& run_once(const RunArgs& caller);
  const Executor& run_with_peers(const RunArgs& caller);
  void notify_peers(StepDecision why);
  void vote_with_peers();
  bool is_recoverable(const Error& error) const;

  std::shared_ptr<Graph> graph_;
  std::unique_ptr<SessionCreator> creator_;
  HookList hooks_;
  std::vector<std::shared_ptr<HookSaveable>> hook_saveables_;
  std::shared_ptr<Saver> saver_;  // the hook states are attached to it
  MonitoredOptions options_;
  bool graph_was_finalized_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<ChiefSession> chief_;  // set if session_ is a chief's
  Coordinator coordinator_;
  LoopLocation where_;
  StopCause stop_cause_;
  RunRequests requests_{hooks_};
  RunMetadata run_metadata_;
  bool stop_requested_ = false;
  bool is_running_ = false;  // the executor, not the hooks
  bool has_failed_ = false;
  bool was_run_ = false;         // the executor finished in the last step
  bool was_partial_run_ = false;  // the last step failed after it began to update variables
  bool closed_ = false;
};

// Runs `body` like a with-block: end of data and stop_iteration close the session normally; other
// errors close it and are rethrown.
void run_block(MonitoredSession& session, const std::function<void()>& body);
// The same for a part of such a block: the session stays open if `body` returns.
void step_in_block(MonitoredSession& session, const std::function<void()>& body);

}  // namespace runhooks
