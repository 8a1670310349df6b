// Whether the last run on this thread failed or was interrupted after it had started updating
// variables.
#pragma once

namespace runhooks {

bool& last_run_was_partial();

}  // namespace runhooks
