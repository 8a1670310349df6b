#include "base/thread_pool.h"

#include <atomic>
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
#include "base/clock.h"
#include "base/denormals.h"
#include "base/on_wait_scope.h"
#include "base/task_batch.h"
#include "base/threads.h"

namespace runhooks {

namespace {

// Idle time in nanoseconds after which a helper sleeps.
constexpr int64_t kSpinBeforeSleep = 1000 * 1000;

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

  // Runs all tasks and returns TRUE. Returns FALSE, and runs none, if another thread uses the pool
  // or there are no helpers.
  bool try_run(size_t n, int threads, void (*run)(void*, size_t), void* context) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    if (!ensure_threads(threads - 1)) {
      busy_.store(false, std::memory_order_release);
      return false;
    }
    active_.store(threads - 1, std::memory_order_relaxed);
    batch_.begin(n, run, context);
    if (sleeping_.load() > 0) {
      // Without the lock, a helper that is about to sleep could miss the notification.
      { std::lock_guard<std::mutex> lock(mutex_); }
      wake_.notify_all();
    }
    batch_.run_to_end(n, OnWaitScope::run_callback);
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  bool ensure_threads(int num_helpers) {
    while (static_cast<int>(threads_.size()) < num_helpers) {
      try {
        const BlockSignalsScope block_signals;
        const auto index = static_cast<int>(threads_.size());
        threads_.push_back(std::make_unique<std::thread>([this, index] { run_helper(index); }));
      } catch (const std::system_error&) {
        break;  // the system cannot create more threads
      }
    }
    return !threads_.empty();
  }

  // Whether helper `index` may claim a task. A batch may be limited to fewer helpers than exist.
  bool has_task_for(int index) {
    return batch_.has_task() && index < active_.load(std::memory_order_relaxed);
  }

  void run_helper(int index) {
    const SingleThreaded single_threaded;
    const FlushDenormals flush_denormals;
    int64_t idle_since = steady_ns();
    while (!stops_.load(std::memory_order_relaxed)) {
      if (has_task_for(index) && batch_.try_run_one(true)) {
        idle_since = 0;
        continue;
      }
      for (int i = 0; i < TaskBatch::kSpinsBeforeYield && !has_task_for(index); ++i) cpu_relax();
      const int64_t now = steady_ns();
      if (idle_since == 0) idle_since = now;
      if (now - idle_since > kSpinBeforeSleep) {
        sleep(index);
        idle_since = 0;
      } else {
        std::this_thread::yield();
      }
    }
  }
  void sleep(int index) {
    std::unique_lock<std::mutex> lock(mutex_);
    sleeping_.fetch_add(1);
    wake_.wait(lock, [this, index] { return stops_.load() || has_task_for(index); });
    sleeping_.fetch_sub(1);
  }

  std::atomic<bool> busy_{false}, stops_{false};
  TaskBatch batch_;
  std::atomic<int> sleeping_{0}, active_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<std::thread>> threads_;
};

// Joins the helpers at process exit. A forked child has no helper threads, so destroying the pool
// there would block forever.
class GlobalThreadPool {
 public:
  ~GlobalThreadPool() {
    if (!in_forked_child()) delete pool_;
  }
  ThreadPool& get() { return *pool_; }

 private:
  ThreadPool* pool_ = new ThreadPool;
};

}  // namespace

void parallel_for(size_t n, int threads, void (*run)(void* context, size_t i), void* context) {
  static GlobalThreadPool pool;
  const SingleThreaded single_threaded;
  const CancellableScope not_cancellable_scope(false);  // tasks must not throw
  if (threads > 1 && n > 1 && n <= TaskBatch::kMaxTasks && !in_forked_child() &&
      pool.get().try_run(n, threads, run, context)) {
    return;
  }
  for (size_t i = 0; i < n; ++i) run(context, i);
}

}  // namespace runhooks
