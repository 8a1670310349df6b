// What lives here: RecordedRun, which watches a training and writes down how it ends.
// Who may use it: estimators.
// What it must not know: any particular model, R.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/log_watch.h"
#include "base/random.h"
#include "estimators/estimator.h"
#include "estimators/run_record.h"

namespace runhooks {

// From the beginning of a training to its end, or to the exception that leaves it.
class RecordedRun {
 public:
  RecordedRun(const RunConfig& config, int64_t from_step, const TrainOptions& options);
  RecordedRun(const RecordedRun&) = delete;
  RecordedRun& operator=(const RecordedRun&) = delete;

  // The hook by which it sees the loop; the last one, so that it sees what the others have done.
  HookPtr hook() const;
  // The loop has begun. `limits`: the hooks that the number of steps was given to.
  void begin(const MonitoredSession& session, HookList limits);
  // It ends by whom it says; by the input where that has no more.
  void note_end(const LoopEnder& ender, bool input_ended);
  // No step is made, since so many were made before.
  void skip();
  const RunEnd& end();
  // By the exception that is being handled.
  void fail();
  int64_t step() const;

 private:
  class Watcher;
  RunEnd asked_end(const LoopEnder& ender) const;
  RunEnd failed_end() const;
  void write(const RunEnd& end);

  int64_t steps_, max_steps_;
  std::vector<double> seeds_;  // that were drawn, the first ones
  SeedsFrom noting_;
  std::deque<std::string> lines_;  // of the log, the last ones
  LogWatch watching_;
  RunRecord record_;
  std::shared_ptr<Watcher> watcher_;
  HookList limits_;
  RunEnd end_;
  std::string place_;  // of the hook that raised an error
};

}  // namespace runhooks
