// What lives here: Executor::Levels, the steps of a plan level by level, as several threads run them.
// Who may use it: the executor.
// What it must not know: the order of a run on one thread, R.
#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "session/executor.h"
#include "session/parallelism_tuner.h"

namespace runhooks {

class Executor::Levels {
 public:
  struct Level {
    std::vector<Step*> idle;    // only prepared, where the layout has changed
    std::vector<Step*> alone;   // by the session's thread
    std::vector<Step*> shared;  // by all threads, the longest first
    // A step that takes longer than all others together is for its own threads.
    void balance();
  };
  int runs = 0;
  std::vector<Level> levels;
  std::optional<ParallelismTuner> trial;  // none where the runs are too short
  std::vector<std::exception_ptr> errors;

  // Which thread computes a step is a matter of time, what it computes is not. Of several errors
  // the first in the plan's order is raised.
  template <typename Run>
  void run_shared(const std::vector<Step*>& steps, Run run_step);
};

}  // namespace runhooks
