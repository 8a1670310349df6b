// StepStatsCollector: records how long each operation takes and enforces the timeout.
#pragma once

#include <string>

#include "base/clock.h"
#include "graph/kernel.h"
#include "io/events/step_stats.h"

namespace runhooks {

class StepStatsCollector {
 public:
  // A timeout of 0 means no limit. `stats` may be NULL to enforce only the timeout.
  StepStatsCollector(int64_t timeout_in_ms, StepStats* stats)
      : timeout_in_ms_(timeout_in_ms), stats_(stats) {}

  int64_t elapsed_ns() const { return steady_ns() - start_ns_; }
  void check_time() const;  // throws kDeadlineExceeded after the timeout
  void record(const Operation& op, KernelContext& context, int64_t start_ns);

 private:
  const int64_t start_ns_ = steady_ns();
  int64_t timeout_in_ms_;
  StepStats* stats_;
};

}  // namespace runhooks
