// What lives here: RunOptions and RunMetadata, what a run is told beside fetches and feeds, and what it tells.
// Who may use it: session, hooks, monitored, the bindings.
// What it must not know: hooks, how a trace is written, R.
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
  int64_t timeout_in_ms = 0;  // 0: none

  bool is_default() const { return trace_level == kNoTrace && timeout_in_ms == 0; }
  bool operator==(const RunOptions& other) const {
    return trace_level == other.trace_level && timeout_in_ms == other.timeout_in_ms;
  }
  // Of several who share a run: the larger of each.
  void merge(const RunOptions& other) {
    trace_level = std::max(trace_level, other.trace_level);
    timeout_in_ms = std::max(timeout_in_ms, other.timeout_in_ms);
  }
};

// tf.RunMetadata; step_stats only where the options asked for a trace.
struct RunMetadata {
  std::shared_ptr<StepStats> step_stats;
};

}  // namespace runhooks
