#include "session/run_where.h"

namespace runhooks {

RunWhere* RunWhere::innermost_ = nullptr;

int64_t RunWhere::global_step() const {
  if (!session || session->is_closed()) return -1;
  const VariablePtr step = runhooks::global_step(session->graph());
  if (!step || !session->is_initialized(*step)) return -1;
  return static_cast<int64_t>(session->value(*step).number_at(0));
}

}  // namespace runhooks
