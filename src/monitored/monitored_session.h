// MonitoredSession: a session that calls hooks around each run and recovers from lost sessions.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cluster/step_barrier.h"
#include "monitored/hook_saveable.h"
#include "monitored/run_requests.h"
#include "monitored/session_creator.h"
#include "session/loop_location.h"
#include "session/run_hook.h"

namespace runhooks {

struct MonitoredOptions {
  // Whether to create a new session and retry the run after an aborted or unavailable error.
  bool recovers = true;
  // The error is rethrown after this many failures of one run. TensorFlow retries forever.
  int max_failures = 10;
  // Whether other processes run the same steps. All processes then stop together
  // (cluster/step_barrier.h), and a lost session is not recreated.
  bool has_peers = false;
};

// The hook that ended a loop, by a stop request or an error. `hook` is NULL if the loop ended for
// another reason, such as the end of the data.
struct StopCause {
  const RunHook* hook = nullptr;
  const char* method = "";
};

// A function that replaces the hooks of every new loop, for tests that trace hook calls. Empty by
// default.
std::function<HookList(HookList)>& hook_decorator();

// tf.train.MonitoredSession, or SingularMonitoredSession if `recovers` is false. Calls happen in
// TensorFlow's order, as recorded in the golden traces. Two things differ: a second close() is a
// no-op, and the number of recoveries is limited.
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
  // Runs one step with the hooks. The results begin with the caller's fetches, in their order.
  const Executor& run(const RunArgs& caller);

  // The following three functions are the parts of run(), for callers whose steps consist of
  // several runs.
  // Returns the session; creates it if it was lost.
  Session& ready_session();
  // Runs once, without retries.
  const Executor& run_in_step(const RunArgs& caller);
  // Returns true if the session was closed because of `error` and the step may be retried.
  bool close_if_recoverable(const Error& error);
  int max_failures() const { return options_.max_failures; }
  const RunMetadata& run_metadata() const { return run_metadata_; }

  // Ends the loop normally: calls end() of each hook until one fails. The session is closed in any
  // case.
  void close();
  // Ends the loop after an error or interrupt: calls on_error() of each hook, but no end().
  void close_after_failure(const LoopFailure& failure);
  bool is_closed() const { return is_closed_; }
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
  bool is_busy() const { return is_running_ || location_.hook; }
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
  // Moves the session out of this object.
  std::unique_ptr<Session> release_session();
  void notify_failure(LoopFailure failure);
  void detach_saver();
  const Executor& run_once(const RunArgs& caller);
  const Executor& run_with_peers(const RunArgs& caller);
  void notify_peers(StepDecision reason);
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
  LoopLocation location_;
  StopCause stop_cause_;
  RunRequests requests_{hooks_};
  RunMetadata run_metadata_;
  bool stop_requested_ = false;
  bool is_running_ = false;  // true while the executor runs, but not while hooks are called
  bool has_failed_ = false;
  bool has_run_executor_ = false;  // the executor finished in the last step
  bool was_partial_run_ = false;   // the last step failed after it began to update variables
  bool is_closed_ = false;
};

// Runs `body` and closes the session, like Python's `with session:`. The end of the data and
// stop_iteration end `body` normally. After other errors, close_after_failure() closes the session,
// and the error is rethrown.
void run_block(MonitoredSession& session, const std::function<void()>& body);
// Like run_block(), but the session stays open if `body` returns normally.
void step_in_block(MonitoredSession& session, const std::function<void()>& body);

}  // namespace runhooks
