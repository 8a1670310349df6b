// RunOptions and RunMetadata: the settings of a run and the statistics that it returns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "io/events/step_stats.h"

namespace runhooks {

// tf.RunOptions.
struct RunOptions {
  enum TraceLevel { kNoTrace = 0, kSoftwareTrace = 1, kHardwareTrace = 2, kFullTrace = 3 };
  int trace_level = kNoTrace;
  int64_t timeout_in_ms = 0;  // 0: no limit

  bool is_default() const { return trace_level == kNoTrace && timeout_in_ms == 0; }
  bool operator==(const RunOptions& other) const {
    return trace_level == other.trace_level && timeout_in_ms == other.timeout_in_ms;
  }
  // Takes the larger of each setting.
  void merge(const RunOptions& other) {
    trace_level = std::max(trace_level, other.trace_level);
    timeout_in_ms = std::max(timeout_in_ms, other.timeout_in_ms);
  }
};

// tf.RunMetadata; step_stats is set only if the options request a trace.
struct RunMetadata {
  std::shared_ptr<StepStats> step_stats;
};

}  // namespace runhooks
