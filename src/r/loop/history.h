// history_to_r() converts the record of a history saver to R.
#pragma once

#include "hooks/history_saver_hook.h"
#include "r/values/values.h"

namespace runhooks {
namespace r {

// Returns list(step, losses, input), which is not protected from R's collector.
SEXP history_to_r(const History& history);

}  // namespace r
}  // namespace runhooks
