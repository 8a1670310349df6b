// LoopLocation: which hook method a training loop is running, and at which step, for error
// messages.
#pragma once

#include <string>

#include "session/session.h"

namespace runhooks {

// The position of one loop. Loops can nest, because a hook can train another model. Their lifetimes
// can also overlap, because predictions are read lazily.
struct LoopLocation {
  const class RunHook* hook = nullptr;
  const char* method = "";
  Session* session = nullptr;

  // The value of the global step; -1 if unknown.
  int64_t global_step() const;

  // The loop whose hook is running, or NULL.
  static LoopLocation*& innermost() { return innermost_; }

  // Inside this scope, `method` of `hook` is running.
  class Scope {
   public:
    Scope(LoopLocation& location, const RunHook* hook, const char* method)
        : location_(location),
          outer_(innermost()),
          outer_hook_(location.hook),
          outer_method_(location.method) {
      location.hook = hook;
      location.method = method;
      innermost() = &location;
    }
    ~Scope() {
      location_.hook = outer_hook_;
      location_.method = outer_method_;
      innermost() = outer_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LoopLocation& location_;
    LoopLocation* outer_;
    const RunHook* outer_hook_;  // restored on exit, because savers call other hooks
    const char* outer_method_;
  };

 private:
  static LoopLocation* innermost_;
};

}  // namespace runhooks
