// What lives here: where the running loops are (hook, method, step), asked when an error has to be explained.
// Who may use it: monitored writes it, the bindings read it.
// What it must not know: what the hooks do, R.
#pragma once

#include <string>

#include "session/session.h"

namespace runhooks {

// One loop. Loops can be nested (a hook that trains another model), so they form a stack.
class RunWhere {
 public:
  RunWhere() : outer_(innermost()) { innermost() = this; }
  ~RunWhere() { innermost() = outer_; }
  RunWhere(const RunWhere&) = delete;
  RunWhere& operator=(const RunWhere&) = delete;

  // While a method of a hook runs.
  const class RunHook* hook = nullptr;
  const char* method = "";
  Session* session = nullptr;

  // The value of the global step, -1 where it is not known.
  int64_t global_step() const;

  static RunWhere*& innermost();

 private:
  RunWhere* outer_;
};

}  // namespace runhooks
