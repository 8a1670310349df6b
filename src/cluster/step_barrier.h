// StepBarrier: before each step, all processes vote on whether to run the step.
#pragma once

#include "base/scoped_value.h"

namespace runhooks {

// The votes in increasing order of priority: the vote with the highest priority wins.
enum class StepDecision { kYes, kStops, kNoData, kInterrupted };

// The winning vote and the lowest rank that cast it.
struct VoteResult {
  StepDecision goes_on = StepDecision::kYes;
  int rank = 0;
};
// Casts the vote of this process. All processes must call it; all of them get the same result.
VoteResult vote(StepDecision own_decision);
// Raises an interrupt in this process, because the user has interrupted process `rank`.
[[noreturn]] void interrupt_with(int rank);

// In each step, the op ReplicaGate makes all processes vote, after their data are ready and before
// any variable changes. Collective ops may run only after the vote, because they would wait forever
// for a process that does not run the step.
class StepBarrier {
 public:
  static void open() { state_ = kOpen; }
  static void close() { state_ = kClosed; }
  static bool is_passed() { return state_ == kPassed; }
  static bool is_open() { return state_ == kOpen; }
  // Votes to run the step. Throws if another process does not run the step, with kOutOfRange if
  // that process has no more data.
  static void vote_ready();
  // Called instead of vote_ready() by a process that cannot run the step.
  static void vote_abort(StepDecision reason);
  // Throws unless the processes have voted to run the step.
  static void check_passed(const char* op_type);

 private:
  enum State { kClosed, kOpen, kPassed };
  static inline State state_ = kClosed;
};

// Inside this scope, if `is_collective` is TRUE, all processes save the same step, so that saving
// may use collective operations.
class CollectiveSaveScope {
 public:
  explicit CollectiveSaveScope(bool is_collective) : scope_(is_active_, is_collective) {}
  static bool is_collective_save() { return is_active_; }

 private:
  static inline bool is_active_ = false;
  ScopedValue<bool> scope_;
};

}  // namespace runhooks
