// What several processes agree on in each step: that all make it, and that all go on.
#pragma once

#include <string>

namespace runhooks {

// How a process goes on, from the least to the most: the most that any says counts for all.
enum class StepDecision { kYes, kStops, kNoData, kInterrupted };

// What the processes have agreed on, and the first of those who said so.
struct VoteResult {
  StepDecision goes_on = StepDecision::kYes;
  int rank = 0;
};
// All processes call it.
VoteResult vote(StepDecision own);
// The user has interrupted process `rank`: so he has this one.
[[noreturn]] void interrupt_with(int rank);

// A step of this process in which it speaks with the others. It begins closed; each step has one
// moment, once the data are there and before anything changes, at which all say whether they make it
// (the op ReplicaGate). Operations that speak with the others run behind it only: outside of a step
// nobody would answer.
class StepBarrier {
 public:
  static void open() { state() = kOpen; }
  static void close() { state() = kClosed; }
  static bool is_passed() { return state() == kPassed; }
  static bool is_open() { return state() == kOpen; }
  // Throws where a process does not make the step: kOutOfRange where it has no data.
  static void vote_ready();
  // Instead of pass(), by a process that cannot.
  static void vote_abort(StepDecision why);
  static void check_passed(const char* what);

 private:
  enum State { kClosed, kOpen, kPassed };
  static State& state();
};

// While one lives, all processes save the same moment: what they save together, they gather.
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
