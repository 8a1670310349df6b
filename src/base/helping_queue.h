// HelpingQueue, by which a thread that waits for what another one makes takes part in the making.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/task_batch.h"

namespace runhooks {

// A thread that works ahead has one core, and who waits for it another one that is idle then. So
// no thread is woken that somebody has not paid for already, and who has other things to do is not
// disturbed: the one who makes does all itself.
class HelpingQueue {
 public:
  // `wake` is called when pieces are there while somebody sleeps.
  HelpingQueue(void (*wake)(void* context), void* context) : wake_(wake), context_(context) {}
  HelpingQueue(const HelpingQueue&) = delete;
  HelpingQueue& operator=(const HelpingQueue&) = delete;

  // While one lives, helping_for() on this thread offers its pieces here.
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

  // As parallel_for().
  void share(size_t n, void (*run)(void* context, size_t i), void* context);
  // What who waits does as long as `seen` is what `news` says: pieces; some time without any, and
  // it returns. At once where nothing was offered for a while.
  void help(const std::atomic<unsigned>& news, unsigned seen);
  // Around a sleep, which must not begin when pieces are there.
  void begin_sleep() { sleeping_.fetch_add(1); }
  void end_sleep() { sleeping_.fetch_sub(1); }
  bool has_piece() const { return round_.has_piece(); }

 private:
  TaskBatch round_;
  std::atomic<bool> busy_{false}, recently_active_{false};
  std::atomic<int> sleeping_{0};
  void (*wake_)(void*);
  void* context_;
};

// parallel_for() with as many threads as a kernel may use; on a thread that works ahead, with those
// who wait for it.
void helping_for(size_t n, void (*run)(void* context, size_t i), void* context);

// run(i) for each i below n, in any order. It must not throw.
template <typename Run>
void helping_for(size_t n, const Run& run) {
  helping_for(
      n, [](void* context, size_t i) { (*static_cast<const Run*>(context))(i); },
      const_cast<Run*>(&run));
}

}  // namespace runhooks
