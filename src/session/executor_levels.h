// Executor::Levels: the steps of a plan grouped by level, for multi-threaded runs.
#pragma once

#include <exception>
#include <vector>

#include "session/executor.h"

namespace runhooks {

class Executor::Levels {
 public:
  struct Level {
    std::vector<Step*> idle;    // prepared only, if the layout has changed
    std::vector<Step*> alone;   // run on the session's thread
    std::vector<Step*> shared;  // run on all threads, longest first
    // Moves a step that takes longer than all others combined to `alone`, where its kernel may use
    // threads.
    void balance();
  };
  int runs = 0;
  std::vector<Level> levels;
  bool are_shared = false;  // whether a level takes long enough for several threads
  std::vector<std::exception_ptr> errors;

  // The assignment of steps to threads does not affect results. If several steps fail, the first
  // error in plan order is raised.
  template <typename Run>
  void run_shared(const std::vector<Step*>& steps, Run run_step);
};

}  // namespace runhooks
