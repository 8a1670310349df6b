// What lives here: LoopObserver, which is told of each call that a monitored loop makes to its hooks.
// Who may use it: monitored tells it; the bindings set one, for tests that compare whole traces.
// What it must not know: any particular hook, models, R.
#pragma once

#include "session/run_hook.h"

namespace runhooks {

class LoopObserver {
 public:
  virtual ~LoopObserver() = default;
  // A loop begins with these hooks, in the order of their calls.
  virtual void loop_made(const HookList& hooks) = 0;
  // A method is about to be called; the session is NULL where there is none.
  virtual void call(const RunHook& hook, const char* method, Session* session) = 0;
  // The hook has asked to stop in the after_run() that was called last.
  virtual void stop_requested(const RunHook& hook) = 0;

  // The one that is told; NULL where nobody listens, which is the rule.
  static LoopObserver* current() { return current_; }
  static void set_current(LoopObserver* observer) { current_ = observer; }

 private:
  // asked at each call of each hook
  static inline LoopObserver* current_ = nullptr;
};

}  // namespace runhooks
