#include "session/loop_location.h"

namespace runhooks {

LoopLocation* LoopLocation::innermost_ = nullptr;

int64_t LoopLocation::global_step() const {
  if (!session || session->is_closed()) return -1;
  const VariablePtr step = runhooks::global_step(session->graph());
  if (!step || !session->is_initialized(*step)) return -1;
  return static_cast<int64_t>(session->value(*step).number_at(0));
}

}  // namespace runhooks
