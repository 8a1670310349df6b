#include "base/helping_queue.h"

#include <chrono>
#include <thread>

#include "base/cancellation.h"
#include "base/denormals.h"
#include "base/thread_pool.h"
#include "base/threads.h"

namespace runhooks {

namespace {

// Consumers stop helping after this time without tasks.
constexpr std::chrono::microseconds kHelpDuration(200);
// help() returns after this time, so that the caller can poll for interrupts.
constexpr std::chrono::milliseconds kMaxHelpTime(20);

}  // namespace

void HelpingQueue::run_batch(size_t n, void (*run)(void*, size_t), void* context) {
  const SingleThreaded single_threaded;
  const CancellableScope not_cancellable_scope(false);  // tasks must not throw
  const bool runs_alone = n < 2 || n > TaskBatch::kMaxTasks || configured_threads() < 2 ||
                          busy_.exchange(true, std::memory_order_acquire);
  if (runs_alone) {
    for (size_t i = 0; i < n; ++i) run(context, i);
    return;
  }
  recently_active_.store(true, std::memory_order_relaxed);
  batch_.begin(n, run, context);
  if (sleeping_.load() > 0) wake_(context_);
  batch_.run_to_end(n, [] {});
  busy_.store(false, std::memory_order_release);
}

void HelpingQueue::help(const std::atomic<unsigned>& version, unsigned seen_version) {
  using Clock = std::chrono::steady_clock;
  if (!recently_active_.load(std::memory_order_relaxed) && !has_task()) return;
  const SingleThreaded single_threaded;
  const FlushDenormals flush_denormals;
  const CancellableScope not_cancellable_scope(false);
  const auto begin = Clock::now();
  auto last_task_time = begin;
  while (version.load(std::memory_order_acquire) == seen_version) {
    if (batch_.try_run_one(true)) {
      last_task_time = Clock::now();
      if (last_task_time - begin > kMaxHelpTime) return;
      continue;
    }
    for (int i = 0; i < TaskBatch::kSpinsBeforeYield && !has_task(); ++i) cpu_relax();
    if (has_task()) continue;
    if (Clock::now() - last_task_time > kHelpDuration) {
      recently_active_.store(false, std::memory_order_relaxed);
      return;
    }
    std::this_thread::yield();
  }
}

void helping_for(size_t n, void (*run)(void* context, size_t i), void* context) {
  HelpingQueue* queue = HelpingQueue::ProducerScope::current();
  if (queue) return queue->run_batch(n, run, context);
  parallel_for(n, kernel_threads(), run, context);
}

}  // namespace runhooks
