#include "cluster/group.h"

#include "cluster/step_barrier.h"

namespace runhooks {

Communicator& group_of(const Operation& op) {
  Communicator& all = communicator();
  const int64_t wanted = op.attr_int(kGroupSize);
  if (wanted != all.size()) {
    fail(Code::kFailedPrecondition, "'", op.name(), "' was built for ", wanted,
         wanted == 1 ? " process" : " processes", ", but this run has ", all.size(), ".");
  }
  if (wanted > 1) StepBarrier::check_passed(op.type().c_str());
  return all;
}

}  // namespace runhooks
