// last_run_was_partial(): whether the last run on this thread failed or was interrupted after it
// had started to update variables.
#pragma once

namespace runhooks {

bool& last_run_was_partial();

}  // namespace runhooks
