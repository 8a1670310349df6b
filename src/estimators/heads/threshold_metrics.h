// Metrics of predicted probabilities: areas under curves, and metrics at thresholds.
#pragma once

#include <string>
#include <vector>

#include "estimators/models/model_fn.h"

namespace runhooks {

Named<Metric> area_metrics(Graph& graph,
                           Output labels,
                           Output probabilities,
                           Output weights,
                           const std::string& summation_method);

// Returns accuracy, precision and recall for each threshold <t>, with keys such as
// "accuracy/positive_threshold_<t>".
Named<Metric> threshold_metrics(Graph& graph,
                                Output labels,
                                Output probabilities,
                                Output weights,
                                const std::vector<float>& thresholds);

}  // namespace runhooks
