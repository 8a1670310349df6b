// What lives here: metrics of probabilities of a yes: areas under curves, and what is right from a threshold on.
// Who may use it: heads.
// What it must not know: which head asks, R.
#pragma once

#include <string>
#include <vector>

#include "estimators/model_fn.h"

namespace runhooks {

// "auc" and "auc_precision_recall".
Named<Metric> area_metrics(Graph& graph,
                           Output labels,
                           Output probabilities,
                           Output weights,
                           const std::string& summation_method);

// For each threshold: "accuracy/positive_threshold_<t>", and precision and recall of this kind.
Named<Metric> threshold_metrics(Graph& graph,
                                Output labels,
                                Output probabilities,
                                Output weights,
                                const std::vector<float>& thresholds);

}  // namespace runhooks
