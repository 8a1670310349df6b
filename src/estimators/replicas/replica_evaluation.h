// Distributed evaluation: each process evaluates its batches, and metric variables are summed.
#pragma once

#include "estimators/models/model_fn.h"

namespace runhooks {

// Whether the metric variables of all processes can be added up, because steps only add to them.
bool metrics_are_sums(const Graph& graph, const Named<Metric>& metrics);
HookPtr sum_metrics_hook();

}  // namespace runhooks
