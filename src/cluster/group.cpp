#include "cluster/group.h"

#include "cluster/step_barrier.h"

namespace runhooks {

Communicator& group_of(const Operation& op) {
  Communicator& comm = communicator();
  const int64_t group_size = op.attr_int(kGroupSize);
  if (group_size != comm.size()) {
    fail(Code::kFailedPrecondition, "'", op.name(), "' was built for ", group_size,
         group_size == 1 ? " process" : " processes", ", but this run has ", comm.size(), ".");
  }
  if (group_size > 1) StepBarrier::check_passed(op.type().c_str());
  return comm;
}

}  // namespace runhooks
