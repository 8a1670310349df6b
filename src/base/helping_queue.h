// HelpingQueue: lets a thread that is blocked on a producer run some of the producer's tasks.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/task_batch.h"

namespace runhooks {

// The prefetch thread has one core and the consumer another. Only a consumer that is already
// blocked helps, so no extra thread is woken. Without one, the producer does all the
// work.
class HelpingQueue {
 public:
  // `wake` is called when tasks are available and a consumer sleeps.
  HelpingQueue(void (*wake)(void* context), void* context) : wake_(wake), context_(context) {}
  HelpingQueue(const HelpingQueue&) = delete;
  HelpingQueue& operator=(const HelpingQueue&) = delete;

  // Inside this scope, helping_for() on this thread publishes its tasks here.
  class ProducerScope {
   public:
    explicit ProducerScope(HelpingQueue& place) : before_(current_) { current_ = &place; }
    ~ProducerScope() { current_ = before_; }
    ProducerScope(const ProducerScope&) = delete;
    ProducerScope& operator=(const ProducerScope&) = delete;
    static HelpingQueue* current() { return current_; }

   private:
    static inline thread_local HelpingQueue* current_ = nullptr;
    HelpingQueue* before_;
  };

  void share(size_t n, void (*run)(void* context, size_t i), void* context);
  // Runs tasks while `news` equals `seen`. Returns after some time without tasks, and immediately
  // if the producer has not published any recently.
  void help(const std::atomic<unsigned>& news, unsigned seen);
  // Enclose a sleep of the consumer; it must check has_task() in between.
  void begin_sleep() { sleeping_.fetch_add(1); }
  void end_sleep() { sleeping_.fetch_sub(1); }
  bool has_task() const { return round_.has_task(); }

 private:
  TaskBatch round_;
  std::atomic<bool> busy_{false}, recently_active_{false};
  std::atomic<int> sleeping_{0};
  void (*wake_)(void*);
  void* context_;
};

// A parallel loop on the threads that a kernel may use, or inside a ProducerScope on this thread
// and its blocked consumers.
void helping_for(size_t n, void (*run)(void* context, size_t i), void* context);

// Calls run(i) for each i below n, in any order. `run` must not throw.
template <typename Run>
void helping_for(size_t n, const Run& run) {
  helping_for(
      n, [](void* context, size_t i) { (*static_cast<const Run*>(context))(i); },
      const_cast<Run*>(&run));
}

}  // namespace runhooks
