// What lives here: metrics of probabilities that are taken as yes from a threshold on.
// Who may use it: heads.
// What it must not know: which head asks, R.
#pragma once

#include <vector>

#include "estimators/metric.h"

namespace runhooks {

// For each threshold: "accuracy/positive_threshold_<t>", and precision and recall of this kind.
Named<Metric> threshold_metrics(Graph& graph,
                                Output labels,
                                Output probabilities,
                                Output weights,
                                const std::vector<float>& thresholds);

}  // namespace runhooks
