// What lives here: StepStatsCollector, which watches a run: how long each operation takes, and whether the time is up.
// Who may use it: the executor.
// What it must not know: plans, how a trace is written, R.
#pragma once

#include <chrono>
#include <string>

#include "graph/kernel.h"
#include "io/events/step_stats.h"

namespace runhooks {

class StepStatsCollector {
 public:
  // Without a limit of time: 0. `stats` is NULL where only the time counts.
  StepStatsCollector(int64_t timeout_in_ms, StepStats* stats)
      : timeout_in_ms_(timeout_in_ms), stats_(stats) {}

  int64_t elapsed_ns() const;
  void check_time() const;  // throws deadline_exceeded
  void record(const Operation& op, KernelContext& context, int64_t start_ns);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
  int64_t timeout_in_ms_;
  StepStats* stats_;
};

}  // namespace runhooks
