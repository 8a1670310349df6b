// Executor::Levels: the steps of a plan grouped by level, for multi-threaded runs.
#pragma once

#include <exception>
#include <vector>

#include "session/executor.h"

namespace runhooks {

class Executor::Levels {
 public:
  struct Level {
    std::vector<Step*> prepare_only;  // prepared only, if the layout has changed
    std::vector<Step*> serial;        // run on the session's thread
    std::vector<Step*> parallel;      // run on all threads, longest first
    // Moves a step that takes longer than all other steps combined to `serial`, where its kernel
    // can use all threads. Moves all steps there if several threads would gain too little.
    void balance();
  };
  int runs = 0;
  std::vector<Level> levels;
  bool has_parallel_steps = false;  // whether a level is long enough for several threads
  std::vector<std::exception_ptr> errors;

  // The assignment of steps to threads does not affect results. If several steps fail, the first
  // error in plan order is raised.
  template <typename Run>
  void run_parallel(const std::vector<Step*>& steps, Run run_step);
};

}  // namespace runhooks
