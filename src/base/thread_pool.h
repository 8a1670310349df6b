// Small pieces of work that helping threads take part in, without waiting for threads that do not come.
#pragma once

#include <cstddef>

namespace runhooks {

// Calls run(context, i) once for each i below n, in any order, on this thread and on up to
// `threads` - 1 others, and returns when all are done. Nobody waits for a helper that has not
// begun: on a busy machine the caller does all itself. run() must not throw, and inside of it
// kernel_threads() is 1.
void parallel_for(size_t n, int threads, void (*run)(void* context, size_t i), void* context);

}  // namespace runhooks
