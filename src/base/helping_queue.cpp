#include "base/helping_queue.h"

#include <chrono>
#include <thread>

#include "base/cancellation.h"
#include "base/denormals.h"
#include "base/thread_pool.h"
#include "base/threads.h"

namespace runhooks {

namespace {

constexpr int kSpinPauses = 200;  // polls between two checks of the clock
// Consumers stop helping after this time without tasks.
constexpr std::chrono::microseconds kHelpDuration(200);
// Maximum time in help(), so that the caller can poll for interrupts.
constexpr std::chrono::milliseconds kMaxHelpTime(20);

}  // namespace

void HelpingQueue::share(size_t n, void (*run)(void*, size_t), void* context) {
  const SingleThreaded inside;
  const CancellableScope none(false);  // tasks must not throw
  const bool alone = n < 2 || n > TaskBatch::kMaxTasks || set_threads() < 2 ||
                     busy_.exchange(true, std::memory_order_acquire);
  if (alone) {
    for (size_t i = 0; i < n; ++i) run(context, i);
    return;
  }
  recently_active_.store(true, std::memory_order_relaxed);
  round_.begin(n, run, context);
  if (sleeping_.load() > 0) wake_(context_);
  while (round_.take(false)) {
  }
  for (int spins = 0; round_.done() < n; ++spins) {
    if (spins < kSpinPauses) {
      cpu_relax();
    } else {
      std::this_thread::yield();
    }
  }
  busy_.store(false, std::memory_order_release);
}

void HelpingQueue::help(const std::atomic<unsigned>& news, unsigned seen) {
  using Clock = std::chrono::steady_clock;
  if (!recently_active_.load(std::memory_order_relaxed) && !has_task()) return;
  const SingleThreaded inside;
  const FlushDenormals flushed;
  const CancellableScope none(false);
  const auto begin = Clock::now();
  auto last = begin;
  while (news.load(std::memory_order_acquire) == seen) {
    if (round_.take(true)) {
      last = Clock::now();
      if (last - begin > kMaxHelpTime) return;
      continue;
    }
    for (int i = 0; i < kSpinPauses && !has_task(); ++i) cpu_relax();
    if (has_task()) continue;
    if (Clock::now() - last > kHelpDuration) {
      recently_active_.store(false, std::memory_order_relaxed);
      return;
    }
    std::this_thread::yield();
  }
}

void helping_for(size_t n, void (*run)(void* context, size_t i), void* context) {
  HelpingQueue* place = HelpingQueue::ProducerScope::current();
  if (place) return place->share(n, run, context);
  parallel_for(n, kernel_threads(), run, context);
}

}  // namespace runhooks
