// TaskBatch: a batch of tasks that several threads claim until all have run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

namespace runhooks {

// Tells the CPU that this thread waits in a loop.
inline void cpu_relax() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // stalls about as long as x86's pause; `yield` has no effect on most cores
#endif
}

// `work_` packs the number of the batch and the range [begin, end) of unclaimed tasks. A thread
// claims a task by moving one end with compare-and-swap; the batch number prevents ABA errors. The
// caller claims from the front and helpers from the back. So in each batch a thread tends to run
// the same tasks, whose data are in its cache.
class TaskBatch {
 public:
  static constexpr size_t kMaxTasks = 0xffff;
  // A waiting thread polls this many times before it yields its core.
  static constexpr int kSpinsBeforeYield = 200;

  // Only one thread may call this, after the previous batch is done.
  void begin(size_t n, void (*run)(void*, size_t), void* context) {
    run_ = run;
    context_ = context;
    done_.store(0, std::memory_order_relaxed);
    ++batch_number_;
    work_.store(batch_number_ << 32 | static_cast<uint64_t>(n) << 16);
  }
  // Claims a task and runs it; FALSE without tasks left.
  bool try_run_one(bool from_back) {
    uint64_t seen = work_.load(std::memory_order_acquire);
    while (has_task(seen)) {
      const uint64_t remaining = from_back ? seen - (uint64_t{1} << 16) : seen + 1;
      if (!work_.compare_exchange_weak(seen, remaining, std::memory_order_acq_rel)) continue;
      run_(context_, from_back ? end_of(remaining) : begin_of(seen));
      done_.fetch_add(1, std::memory_order_release);
      return true;
    }
    return false;
  }
  bool has_task() const { return has_task(work_.load()); }
  // Runs all unclaimed tasks, and waits until helpers have finished the others. After polling
  // kSpinsBeforeYield times, yields the core and calls on_wait() between polls. `n` is the number
  // of tasks of the batch.
  template <typename OnWait>
  void run_to_end(size_t n, const OnWait& on_wait) {
    while (try_run_one(/*from_back=*/false)) {
    }
    for (int spins = 0; done_.load(std::memory_order_acquire) < n; ++spins) {
      if (spins < kSpinsBeforeYield) {
        cpu_relax();
      } else {
        std::this_thread::yield();
        on_wait();
      }
    }
  }

 private:
  static size_t begin_of(uint64_t work) { return work & kMaxTasks; }
  static size_t end_of(uint64_t work) { return work >> 16 & kMaxTasks; }
  static bool has_task(uint64_t work) { return begin_of(work) < end_of(work); }

  std::atomic<uint64_t> work_{0};
  std::atomic<size_t> done_{0};
  uint64_t batch_number_ = 0;
  void (*run_)(void*, size_t) = nullptr;
  void* context_ = nullptr;
};

}  // namespace runhooks
