#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <pthread.h>
#endif

#include "base/block_signals.h"
#include "base/cancellation.h"
#include "base/denormals.h"
#include "base/on_wait_scope.h"
#include "base/task_batch.h"
#include "base/threads.h"

namespace runhooks {

namespace {

constexpr int kPauses = 200;  // between two checks of the clock
// Idle time in nanoseconds after which a helper sleeps.
constexpr int64_t kSpinBeforeSleep = 1000 * 1000;

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class ThreadPool {
 public:
  ~ThreadPool() {
    if (threads_.empty()) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stops_.store(true);
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread->join();
  }

  // FALSE if another thread uses the pool or there are no helpers.
  bool share(size_t n, int threads, void (*run)(void*, size_t), void* context) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    if (!ensure_threads(threads - 1)) {
      busy_.store(false, std::memory_order_release);
      return false;
    }
    active_.store(threads - 1, std::memory_order_relaxed);
    round_.begin(n, run, context);
    if (sleeping_.load() > 0) {
      // Taking the lock prevents a lost wake-up of a helper that is about to sleep.
      { std::lock_guard<std::mutex> lock(mutex_); }
      wake_.notify_all();
    }
    while (round_.take(false)) {
    }
    for (int spins = 0; round_.done() < n; ++spins) {
      if (spins < kPauses) {
        cpu_relax();
      } else {
        std::this_thread::yield();
        OnWaitScope::call();
      }
    }
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  bool ensure_threads(int wanted) {
    while (static_cast<int>(threads_.size()) < wanted) {
      try {
        const BlockSignalsScope none;
        const auto number = static_cast<int>(threads_.size());
        threads_.push_back(std::make_unique<std::thread>([this, number] { run_helper(number); }));
      } catch (const std::system_error&) {
        break;  // the system cannot create more threads
      }
    }
    return !threads_.empty();
  }

  // Whether this helper should look for tasks; the batch may use fewer helpers than exist.
  bool is_wanted(int number) {
    return round_.has_task() && number < active_.load(std::memory_order_relaxed);
  }

  void run_helper(int number) {
    const SingleThreaded inside;
    const FlushDenormals flushed;
    int64_t last = now_ns();
    while (!stops_.load(std::memory_order_relaxed)) {
      if (is_wanted(number) && round_.take(true)) {
        last = 0;
        continue;
      }
      for (int i = 0; i < kPauses && !is_wanted(number); ++i) cpu_relax();
      const int64_t now = now_ns();
      if (last == 0) last = now;
      if (now - last > kSpinBeforeSleep) {
        sleep(number);
        last = 0;
      } else {
        std::this_thread::yield();
      }
    }
  }
  void sleep(int number) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleeping_.fetch_add(1);
    wake_.wait(lock, [this, number] { return stops_.load() || is_wanted(number); });
    sleeping_.fetch_sub(1);
  }

  std::atomic<bool> busy_{false}, stops_{false};
  TaskBatch round_;
  std::atomic<int> sleeping_{0}, active_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<std::thread>> threads_;
};

}  // namespace

namespace {

// Joins the helpers at process exit. A forked child has no helper threads, so destroying the pool
// there would block forever.
class GlobalThreadPool {
 public:
  ~GlobalThreadPool() {
    if (!in_forked_child()) delete helpers_;
  }
  ThreadPool& get() { return *helpers_; }

 private:
  ThreadPool* helpers_ = new ThreadPool;
};

}  // namespace

void parallel_for(size_t n, int threads, void (*run)(void* context, size_t i), void* context) {
  static GlobalThreadPool owned;
  const SingleThreaded inside;
  const CancellableScope none(false);  // tasks must not throw
  if (threads > 1 && n > 1 && n <= TaskBatch::kMaxTasks && !in_forked_child() &&
      owned.get().share(n, threads, run, context)) {
    return;
  }
  for (size_t i = 0; i < n; ++i) run(context, i);
}

}  // namespace runhooks
