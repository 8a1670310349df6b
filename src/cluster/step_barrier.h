// StepBarrier: the vote of all processes, in each step, on whether they run it.
#pragma once

#include <string>

namespace runhooks {

// Votes in increasing order of priority; the highest vote wins.
enum class StepDecision { kYes, kStops, kNoData, kInterrupted };

// The winning vote and the lowest rank that cast it.
struct VoteResult {
  StepDecision goes_on = StepDecision::kYes;
  int rank = 0;
};
// Collective: all processes must call it.
VoteResult vote(StepDecision own);
// Interrupts this process too, after the user has interrupted process `rank`.
[[noreturn]] void interrupt_with(int rank);

// The state of a collective step. In each step, all processes vote once, by the op ReplicaGate,
// after the data are ready and before any variable changes. Collective ops may run only after the
// vote, because other processes do not take part outside a step.
class StepBarrier {
 public:
  static void open() { state() = kOpen; }
  static void close() { state() = kClosed; }
  static bool is_passed() { return state() == kPassed; }
  static bool is_open() { return state() == kOpen; }
  // Throws if a process does not run the step; kOutOfRange if it has no data.
  static void vote_ready();
  // Called instead of vote_ready() by a process that cannot run the step.
  static void vote_abort(StepDecision why);
  static void check_passed(const char* what);

 private:
  enum State { kClosed, kOpen, kPassed };
  static State& state();
};

// Inside this scope, all processes save the same step, so saving may use collectives.
class CollectiveSaveScope {
 public:
  explicit CollectiveSaveScope(bool is_so) : outer_(now()) { now() = is_so; }
  ~CollectiveSaveScope() { now() = outer_; }
  CollectiveSaveScope(const CollectiveSaveScope&) = delete;
  CollectiveSaveScope& operator=(const CollectiveSaveScope&) = delete;
  static bool is_now() { return now(); }

 private:
  static bool& now();
  bool outer_;
};

}  // namespace runhooks
