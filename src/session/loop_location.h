// LoopLocation: which hook method a training loop is running, and at which step, for error
// messages.
#pragma once

#include <string>

#include "base/scoped_value.h"
#include "session/session.h"

namespace runhooks {

// The position of one loop. Loops can nest, because a hook can train another model. Their lifetimes
// can also overlap, because predictions are read lazily.
struct LoopLocation {
  const class RunHook* hook = nullptr;
  const char* method = "";
  Session* session = nullptr;

  // Returns the value of the global step; -1 if it is unknown.
  int64_t global_step() const;

  // The loop whose hook is running, or NULL.
  static LoopLocation*& innermost() { return innermost_; }

  // Inside this scope, `method` of `hook` is running.
  class Scope {
   public:
    Scope(LoopLocation& location, const RunHook* hook, const char* method)
        : innermost_scope_(innermost(), &location),
          hook_scope_(location.hook, hook),
          method_scope_(location.method, method) {}

   private:
    ScopedValue<LoopLocation*> innermost_scope_;
    // At the end of a scope the previous values return, because a saver hook calls other hooks.
    ScopedValue<const RunHook*> hook_scope_;
    ScopedValue<const char*> method_scope_;
  };

 private:
  static LoopLocation* innermost_;
};

}  // namespace runhooks
