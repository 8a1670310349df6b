// LoopLocation: the hook, method and step that each running loop is at, for error messages.
#pragma once

#include <string>

#include "session/session.h"

namespace runhooks {

// The position of one loop. Loops may nest, as when a hook trains another model, and their
// lifetimes may overlap, as with lazily read predictions.
struct LoopLocation {
  const class RunHook* hook = nullptr;
  const char* method = "";
  Session* session = nullptr;

  // The value of the global step; -1 if unknown.
  int64_t global_step() const;

  // The loop whose hook is running, or NULL.
  static LoopLocation*& innermost() { return innermost_; }

  // Marks `method` of `hook` as running.
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
    const RunHook* outer_hook_;  // restored on exit, because savers call other hooks
    const char* outer_method_;
  };

 private:
  static LoopLocation* innermost_;
};

}  // namespace runhooks
