// HelpingQueue: lets a thread that is blocked on a producer run some of the producer's tasks.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/scoped_value.h"
#include "base/task_batch.h"

namespace runhooks {

// The producer (a prefetch thread) and its consumer run on different cores. A consumer that waits
// for an element leaves its core idle, so it helps. While no consumer waits, the producer runs all
// tasks.
class HelpingQueue {
 public:
  // `wake` is called when tasks are available and a consumer sleeps.
  HelpingQueue(void (*wake)(void* context), void* context) : wake_(wake), context_(context) {}
  HelpingQueue(const HelpingQueue&) = delete;
  HelpingQueue& operator=(const HelpingQueue&) = delete;

  // Inside this scope, helping_for() on this thread publishes its tasks in `queue`.
  class ProducerScope {
   public:
    explicit ProducerScope(HelpingQueue& queue) : scope_(current_, &queue) {}
    static HelpingQueue* current() { return current_; }

   private:
    static inline thread_local HelpingQueue* current_ = nullptr;
    ScopedValue<HelpingQueue*> scope_;
  };

  // Runs `n` tasks on this thread and on the consumers that wait, and returns when all have
  // finished.
  void run_batch(size_t n, void (*run)(void* context, size_t i), void* context);
  // Runs tasks until `version` differs from `seen_version`. Returns earlier after some time without
  // tasks, and immediately if the producer has not published any recently.
  void help(const std::atomic<unsigned>& version, unsigned seen_version);
  // The consumer calls these before and after it sleeps. It must wake up if has_task() is true.
  void begin_sleep() { sleeping_.fetch_add(1); }
  void end_sleep() { sleeping_.fetch_sub(1); }
  bool has_task() const { return batch_.has_task(); }

 private:
  TaskBatch batch_;
  std::atomic<bool> busy_{false}, recently_active_{false};
  std::atomic<int> sleeping_{0};
  void (*wake_)(void*);
  void* context_;
};

// Runs tasks in parallel. Inside a ProducerScope, they run on this thread and on the consumers that
// wait for it; elsewhere on the thread pool.
void helping_for(size_t n, void (*run)(void* context, size_t i), void* context);

// Calls run(i) for each i below n, in any order. `run` must not throw.
template <typename Run>
void helping_for(size_t n, const Run& run) {
  helping_for(
      n, [](void* context, size_t i) { (*static_cast<const Run*>(context))(i); },
      const_cast<Run*>(&run));
}

}  // namespace runhooks
