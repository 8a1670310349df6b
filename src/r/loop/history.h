// history_to_r() converts the record of a history saver to R.
#pragma once

#include "hooks/history_saver_hook.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// list(step, losses, input). Not protected.
SEXP history_to_r(const History& history);

}  // namespace r
}  // namespace runhooks
