// Distributed evaluation: each process evaluates its batches, and metric variables are summed.
#pragma once

#include "estimators/models/model_fn.h"

namespace runhooks {

// Whether the metric variables of the processes can be summed, because steps only add to them.
bool metrics_are_sums(const Graph& graph, const Named<Metric>& metrics);
// Sums the metric variables over all processes at the end of an evaluation.
HookPtr sum_metrics_hook();

}  // namespace runhooks
