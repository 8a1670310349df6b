// What lives here: where the running loops are (hook, method, step), asked when an error has to be explained.
// Who may use it: monitored writes it, the bindings read it.
// What it must not know: what the hooks do, R.
#pragma once

#include <string>

#include "session/session.h"

namespace runhooks {

// One loop; it is the innermost while a method of one of its hooks runs. Loops can be nested (a
// hook that trains another model) and can outlive each other (predictions that are read bit by
// bit).
struct LoopLocation {
  const class RunHook* hook = nullptr;
  const char* method = "";
  Session* session = nullptr;

  // The value of the global step, -1 where it is not known.
  int64_t global_step() const;

  // The loop of which a hook is running now; NULL where none is.
  static LoopLocation*& innermost() { return innermost_; }

  // While it lives, `method` of `hook` is what runs.
  class Scope {
   public:
    Scope(LoopLocation& where, const RunHook* hook, const char* method)
        : where_(where), outer_(innermost()), outer_hook_(where.hook), outer_method_(where.method) {
      where.hook = hook;
      where.method = method;
      innermost() = &where;
    }
    ~Scope() {
      where_.hook = outer_hook_;
      where_.method = outer_method_;
      innermost() = outer_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LoopLocation& where_;
    LoopLocation* outer_;
    const RunHook* outer_hook_;  // a saver, while it asks others for their state
    const char* outer_method_;
  };

 private:
  static LoopLocation* innermost_;
};

}  // namespace runhooks
