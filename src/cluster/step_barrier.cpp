#include "cluster/step_barrier.h"

#include <csignal>

#include "base/interrupt.h"
#include "base/status.h"
#include "cluster/communicator.h"

namespace runhooks {

VoteResult vote(StepDecision own_decision) {
  Communicator& comm = communicator();
  int64_t own_vote =
      static_cast<int64_t>(own_decision) * comm.size() + (comm.size() - 1 - comm.rank());
  comm.largest(&own_vote, 1);
  VoteResult result;
  result.goes_on = static_cast<StepDecision>(own_vote / comm.size());
  result.rank = static_cast<int>(comm.size() - 1 - own_vote % comm.size());
  return result;
}

void interrupt_with(int rank) {
  std::raise(SIGINT);
  check_interrupt();
  fail(Code::kCancelled, "Process ", rank, " was interrupted.");
}

void StepBarrier::vote_ready() {
  if (state_ != kOpen) {
    fail(Code::kFailedPrecondition,
         "Collective operations can run only in the steps of train(), because "
         "other processes do not take part otherwise.");
  }
  const VoteResult result = vote(StepDecision::kYes);
  state_ = kPassed;
  if (result.goes_on == StepDecision::kYes) return;
  state_ = kClosed;
  if (result.goes_on == StepDecision::kInterrupted) interrupt_with(result.rank);
  fail(Code::kOutOfRange, "Process ", result.rank, " has no more data.");
}

void StepBarrier::vote_abort(StepDecision reason) {
  close();
  vote(reason);
}

void StepBarrier::check_passed(const char* op_type) {
  if (is_passed()) return;
  fail(Code::kFailedPrecondition, op_type,
       " is a collective operation, which can run only in the steps of train().");
}

}  // namespace runhooks
