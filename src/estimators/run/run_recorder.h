// RunRecorder: observes a training and records how it ends.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/log_capture.h"
#include "base/random.h"
#include "estimators/run/estimator.h"
#include "estimators/run/run_record.h"

namespace runhooks {

// Construct it when the training starts, and destroy it when the training has ended or failed.
class RunRecorder {
 public:
  RunRecorder(const RunConfig& config, int64_t from_step, const TrainOptions& options);
  RunRecorder(const RunRecorder&) = delete;
  RunRecorder& operator=(const RunRecorder&) = delete;

  // Observes the loop. Must be the last hook, so that it sees the effects of all others.
  HookPtr hook() const;
  // Call when the loop has begun. `limits`: the hooks that implement `steps` and `max_steps`.
  void begin(const MonitoredSession& session, HookList limits);
  // Records the cause of the end: a hook, or the input if `input_ended` and no hook stopped it.
  void set_end(const StopCause& stop_cause, bool input_ended);
  // Records a run without steps, because max_steps has already been reached.
  void skip();
  // Writes the end of the run, with the cause that set_end() received, and returns this cause.
  const RunEnd& end();
  // Records the current exception; call in a handler.
  void fail();
  int64_t step() const;

 private:
  class StepObserver;
  RunEnd requested_end(const StopCause& stop_cause) const;
  RunEnd failed_end() const;
  void write(const RunEnd& end);

  int64_t steps_, max_steps_;
  std::vector<double> seeds_;  // the first seeds drawn
  SeedSourceScope seed_recorder_;
  std::deque<std::string> lines_;  // the last log lines
  LogCapture log_capture_;
  RunRecord record_;
  std::shared_ptr<StepObserver> observer_;
  HookList limits_;
  RunEnd end_;
  std::string hook_text_;  // names the hook that raised an error
};

}  // namespace runhooks
