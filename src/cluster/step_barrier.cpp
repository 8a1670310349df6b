#include "cluster/step_barrier.h"

#include <csignal>

#include "base/interrupt.h"
#include "base/status.h"
#include "cluster/communicator.h"

namespace runhooks {

VoteResult vote(StepDecision own) {
  Communicator& all = communicator();
  int64_t own_vote = static_cast<int64_t>(own) * all.size() + (all.size() - 1 - all.rank());
  all.largest(&own_vote, 1);
  VoteResult agreed;
  agreed.goes_on = static_cast<StepDecision>(own_vote / all.size());
  agreed.rank = static_cast<int>(all.size() - 1 - own_vote % all.size());
  return agreed;
}

void interrupt_with(int rank) {
  std::raise(SIGINT);
  check_interrupt();
  fail(Code::kCancelled, "Process ", rank, " was interrupted.");
}

bool& CollectiveSaveScope::now() {
  static bool is_so = false;
  return is_so;
}

StepBarrier::State& StepBarrier::state() {
  static State now = kClosed;
  return now;
}

void StepBarrier::vote_ready() {
  if (state() != kOpen) {
    fail(Code::kFailedPrecondition,
         "Collective operations can run only in the steps of train(), because "
         "other processes do not take part otherwise.");
  }
  const VoteResult agreed = vote(StepDecision::kYes);
  state() = kPassed;
  if (agreed.goes_on == StepDecision::kYes) return;
  state() = kClosed;
  if (agreed.goes_on == StepDecision::kInterrupted) interrupt_with(agreed.rank);
  fail(Code::kOutOfRange, "Process ", agreed.rank, " has no more data.");
}

void StepBarrier::vote_abort(StepDecision why) {
  close();
  vote(why);
}

void StepBarrier::check_passed(const char* what) {
  if (is_passed()) return;
  fail(Code::kFailedPrecondition, what,
       " is a collective operation, which can run only in the steps of train().");
}

}  // namespace runhooks
