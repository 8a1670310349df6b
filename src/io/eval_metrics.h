// What lives here: the metrics of a folder's evaluations, read from its event files.
// Who may use it: every layer above io.
// What it must not know: what the metrics mean, R.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace runhooks {

// By global step, then by name; float32 values as they are in the files. None where there is no
// such folder.
using EvalMetrics = std::map<int64_t, std::map<std::string, double>>;

// tf.estimator.experimental.read_eval_metrics: of one metric at one step the last value counts. The
// rest of a damaged file is left out, with a warning.
EvalMetrics read_eval_metrics(const std::string& eval_dir);

}  // namespace runhooks
