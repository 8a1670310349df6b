// What lives here: MonitoredSession, the session whose runs call hooks and which recovers from lost sessions.
// Who may use it: estimators, the bindings.
// What it must not know: any particular hook, models, R.
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
  // After an aborted or unavailable error: a new session, and the same run once more.
  bool recovers = true;
  // TensorFlow tries for ever; after so many failures of one run the last error surfaces.
  int max_failures = 10;
  // The other processes of the run make the same steps, in which they speak with this one: all go on
  // or none does (cluster/step_barrier.h). A session that is lost is not made again.
  bool has_peers = false;
};

// The hook that ended a loop, by asking for it or by an error; none where the input or the caller
// did.
struct StopCause {
  const RunHook* hook = nullptr;
  const char* method = "";
};

// Tests that compare whole traces put hooks of their own around those of every loop that begins;
// none by default.
std::function<HookList(HookList)>& hook_decorator();

// tf.train.MonitoredSession (with recovers = FALSE: SingularMonitoredSession). The order of all
// calls is TensorFlow's, as recorded in the goldens, with these departures: a second close() does
// nothing, and recovery is limited.
class MonitoredSession {
 public:
  // Calls begin() of every hook, makes the session, calls after_create_session().
  MonitoredSession(std::shared_ptr<Graph> graph,
                   std::unique_ptr<SessionCreator> creator,
                   HookList hooks,
                   MonitoredOptions options = {});
  // A session that was not closed is closed without end().
  ~MonitoredSession();
  MonitoredSession(const MonitoredSession&) = delete;
  MonitoredSession& operator=(const MonitoredSession&) = delete;

  bool should_stop();
  // One run with the hooks. The first results are the caller's fetches, in order.
  const Executor& run(const RunArgs& caller);

  // The parts of run() for whoever repeats more than one run after a failure (a step function):
  // a session at hand, a run that does not recover, and what becomes of an error. TRUE: the session
  // has been given up, and the same may be tried once more.
  Session& ready_session();
  const Executor& run_in_step(const RunArgs& caller);
  bool close_if_recoverable(const Error& error);
  int max_failures() const { return options_.max_failures; }
  // Of the last run.
  const RunMetadata& run_metadata() const { return run_metadata_; }

  // Ends well: end() of every hook. An error of one end() keeps the later ones from being called;
  // the session is closed all the same.
  void close();
  // Ends by an error or an interrupt: on_error() of every hook, no end().
  void close_after(const LoopFailure& failure);
  bool is_closed() const { return closed_; }
  // Throws where the session is closed, is running, or is calling one of its hooks.
  void check_open() const;

  Graph& graph() const { return *graph_; }
  bool has_session() const { return session_ != nullptr; }
  // The plain session of the moment; throws after close().
  Session& session();
  Coordinator& coordinator() { return coordinator_; }
  const HookList& hooks() const { return hooks_; }
  const StopCause& ender() const { return ender_; }

 private:
  // What runs it, or a hook that it calls, must not make it give up its session.
  // The session is neither running nor calling a hook.
  void check_caller() const;
  bool is_busy() const { return is_running_ || where_.hook; }
  template <typename Call>
  void call_hook(const HookPtr& hook, const char* method, Call call);
  void record_stop_cause(const RunHook& hook, const char* method);
  void note_stop(const RunHook& hook, const char* method, bool is_requested);
  void order_hooks();
  void create_session();
  void make_hook_saveables();
  void attach_hooks();
  void restore_hook_states();
  void snapshot_hook_states();
  void close_session();
  void give_session_back();
  void notify_failure(LoopFailure failure);
  void forget_saver();
  const Executor& run_once(const RunArgs& caller);
  const Executor& run_with_peers(const RunArgs& caller);
  void tell_peers(StepDecision why);
  void agree_with_peers();
  bool is_recoverable(const Error& error) const;

  std::shared_ptr<Graph> graph_;
  std::unique_ptr<SessionCreator> creator_;
  HookList hooks_;
  std::vector<std::shared_ptr<HookSaveable>> hook_saveables_;
  std::shared_ptr<Saver> saver_;  // that the states of the hooks are attached to
  MonitoredOptions options_;
  bool graph_was_finalized_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<ChiefSession> chief_;  // where session_ is one
  Coordinator coordinator_;
  LoopLocation where_;
  StopCause ender_;
  RunRequests requests_{hooks_};
  RunMetadata run_metadata_;
  bool stop_requested_ = false;
  bool is_running_ = false;  // the session, not the hooks
  bool has_failed_ = false;
  bool was_run_ = false;            // the session, in the last step
  bool was_left_half_way_ = false;  // the last step, within its changes of variables
  bool closed_ = false;
};

// Runs `body` as a with-block runs: end of data and stop_iteration end it well, other errors close
// the session and go on.
void run_block(MonitoredSession& session, const std::function<void()>& body);
// The same for a part of such a block: the session stays open where `body` returns.
void step_in_block(MonitoredSession& session, const std::function<void()>& body);

}  // namespace runhooks
