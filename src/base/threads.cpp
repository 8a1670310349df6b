#include "base/threads.h"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace runhooks {

namespace {

int max_kernel_threads = 1;
bool is_forked_child = false;
thread_local bool is_single = false;

void register_fork_handler() noexcept {
#ifndef _WIN32
  static const int registered = pthread_atfork(nullptr, nullptr, [] { is_forked_child = true; });
  (void)registered;
#endif
}

}  // namespace

int kernel_threads() noexcept { return is_forked_child || is_single ? 1 : max_kernel_threads; }

int configured_threads() noexcept { return is_forked_child ? 1 : max_kernel_threads; }

bool in_forked_child() noexcept { return is_forked_child; }

SingleThreaded::SingleThreaded() noexcept : scope_(is_single, true) {}

void set_kernel_threads(int threads) noexcept {
  register_fork_handler();
  max_kernel_threads = threads < 1 ? 1 : threads;
}

}  // namespace runhooks
