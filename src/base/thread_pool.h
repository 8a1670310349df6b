// parallel_for(): runs small tasks on a pool of helper threads. Worthwhile from a few microseconds
// of work.
#pragma once

#include <cstddef>

namespace runhooks {

// Calls run(context, i) once for each i below n, in any order, on this thread and up to `threads` -
// 1 helpers. The caller never waits for a helper that has claimed no task, so on a busy machine it
// may run all tasks itself. `run` must not throw; inside it, kernel_threads() is 1.
void parallel_for(size_t n, int threads, void (*run)(void* context, size_t i), void* context);

}  // namespace runhooks
