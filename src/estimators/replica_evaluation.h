// What lives here: an evaluation of which each of several processes makes its part, and what all of them make.
// Who may use it: estimators.
// What it must not know: particular metrics or models, R.
#pragma once

#include "estimators/model_fn.h"

namespace runhooks {

// Whether what processes have of their batches adds up to what one has of all of them: steps of the
// metrics change nothing but sums.
bool metrics_are_sums(const Graph& graph, const Named<Metric>& metrics);
// When a loop ends, the variables of the metrics become the sums of those of all processes.
HookPtr sum_metrics_hook();

}  // namespace runhooks
