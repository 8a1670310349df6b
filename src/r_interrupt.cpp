// Ctrl-C between two steps.
#include "runhooks_r.h"

namespace runhooks {
namespace r {

bool user_interrupt() {
  return R_ToplevelExec([](void*) { R_CheckUserInterrupt(); }, nullptr) == FALSE;
}

}  // namespace r
}  // namespace runhooks
