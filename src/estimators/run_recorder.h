// What lives here: RunRecorder, which watches a training and writes down how it ends.
// Who may use it: estimators.
// What it must not know: any particular model, R.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/log_capture.h"
#include "base/random.h"
#include "estimators/estimator.h"
#include "estimators/run_record.h"

namespace runhooks {

// From the beginning of a training to its end, or to the exception that leaves it.
class RunRecorder {
 public:
  RunRecorder(const RunConfig& config, int64_t from_step, const TrainOptions& options);
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  // The hook by which it sees the loop; the last one, so that it sees what the others have done.
  HookPtr hook() const;
  // The loop has begun. `limits`: the hooks that the number of steps was given to.
  void begin(const MonitoredSession& session, HookList limits);
  // It ends by whom it says; by the input where that has no more.
  void note_end(const StopCause& stop_cause, bool input_ended);
  // No step is made, since so many were made before.
  void skip();
  const RunEnd& end();
  // By the exception that is being handled.
  void fail();
  int64_t step() const;

 private:
  class StepObserver;
  RunEnd asked_end(const StopCause& stop_cause) const;
  RunEnd failed_end() const;
  void write(const RunEnd& end);

  int64_t steps_, max_steps_;
  std::vector<double> seeds_;  // that were drawn, the first ones
  SeedSourceScope noting_;
  std::deque<std::string> lines_;  // of the log, the last ones
  LogCapture watching_;
  RunRecord record_;
  std::shared_ptr<StepObserver> watcher_;
  HookList limits_;
  RunEnd end_;
  std::string place_;  // of the hook that raised an error
};

}  // namespace runhooks
