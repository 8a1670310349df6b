#include "cluster/step_gate.h"

#include <csignal>

#include "base/interrupt.h"
#include "base/status.h"
#include "cluster/communicator.h"

namespace runhooks {

Agreement agree(GoesOn own) {
  Communicator& all = communicator();
  int64_t said = static_cast<int64_t>(own) * all.size() + (all.size() - 1 - all.rank());
  all.largest(&said, 1);
  Agreement agreed;
  agreed.goes_on = static_cast<GoesOn>(said / all.size());
  agreed.rank = static_cast<int>(all.size() - 1 - said % all.size());
  return agreed;
}

void interrupt_with(int rank) {
  std::raise(SIGINT);
  check_interrupt();
  fail(Code::kCancelled, "Process ", rank, " was interrupted.");
}

bool& SavedTogether::now() {
  static bool is_so = false;
  return is_so;
}

StepGate::State& StepGate::state() {
  static State now = kClosed;
  return now;
}

void StepGate::pass() {
  if (state() != kOpen) {
    fail(Code::kFailedPrecondition,
         "What several processes compute together is computed in the steps of train() alone: "
         "outside of them no other process would answer.");
  }
  const Agreement agreed = agree(GoesOn::kYes);
  state() = kPassed;
  if (agreed.goes_on == GoesOn::kYes) return;
  state() = kClosed;
  if (agreed.goes_on == GoesOn::kInterrupted) interrupt_with(agreed.rank);
  fail(Code::kOutOfRange, "Process ", agreed.rank, " has no more data.");
}

void StepGate::miss(GoesOn why) {
  close();
  agree(why);
}

void StepGate::check_passed(const char* what) {
  if (is_passed()) return;
  fail(Code::kFailedPrecondition, what,
       " speaks with other processes, which is for the steps of train() alone: nobody would answer.");
}

}  // namespace runhooks
