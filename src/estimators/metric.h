// What lives here: streaming metrics: variables that batches add to, and the value they give.
// Who may use it: heads, estimators, the bindings.
// What it must not know: which metrics a model reports, R.
#pragma once

#include <string>

#include "estimators/model_fn.h"

namespace runhooks {

// tf.metrics.mean: the mean of all values of all batches, weighted by `weights` (broadcast to the
// values) where given. 0 where there has been none.
Metric mean_metric(Graph& graph, Output values, Output weights, const std::string& name);

}  // namespace runhooks
