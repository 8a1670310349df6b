#include "base/shared_work.h"

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

#include "base/denormals.h"
#include "base/may_stop.h"
#include "base/threads.h"
#include "base/while_waiting.h"
#include "base/without_signals.h"

namespace runhooks {

namespace {

constexpr int kPauses = 200;                // between two looks at the clock
constexpr int64_t kPatience = 1000 * 1000;  // nanoseconds without work after which a helper sleeps
constexpr size_t kMostPieces = 0xffff;

void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#endif
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Helpers {
 public:
  ~Helpers() {
    if (threads_.empty()) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stops_.store(true);
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread->join();
  }

  // FALSE where someone else is using them or there are none.
  bool share(size_t n, int threads, void (*run)(void*, size_t), void* context) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    if (!have(threads - 1)) {
      busy_.store(false, std::memory_order_release);
      return false;
    }
    run_ = run;
    context_ = context;
    active_.store(threads - 1, std::memory_order_relaxed);
    done_.store(0, std::memory_order_relaxed);
    ++round_;
    work_.store(round_ << 32 | static_cast<uint64_t>(n) << 16);
    if (sleeping_.load() > 0) {
      // the lock orders this behind a helper that is just going to sleep
      { std::lock_guard<std::mutex> lock(mutex_); }
      wake_.notify_all();
    }
    while (take(false)) {
    }
    for (int looks = 0; done_.load(std::memory_order_acquire) < n; ++looks) {
      if (looks < kPauses) {
        pause();
      } else {
        std::this_thread::yield();
        WhileWaiting::call();
      }
    }
    busy_.store(false, std::memory_order_release);
    return true;
  }

 private:
  bool have(int wanted) {
    while (static_cast<int>(threads_.size()) < wanted) {
      try {
        const WithoutSignals none;
        const auto number = static_cast<int>(threads_.size());
        threads_.push_back(std::make_unique<std::thread>([this, number] { help(number); }));
      } catch (const std::system_error&) {
        break;  // the machine has no more threads to give
      }
    }
    return !threads_.empty();
  }

  // `work_` holds the round, the end of the pieces that are left and the first of them. Who has moved
  // one of the two owns a piece, and the round cannot end before the piece is done. The caller takes
  // from the front and helpers from the back: what is shared again and again finds the same pieces
  // in the cache of the same core.
  bool take(bool from_back) {
    uint64_t seen = work_.load(std::memory_order_acquire);
    while (has_piece(seen)) {
      const uint64_t left = from_back ? seen - (uint64_t{1} << 16) : seen + 1;
      if (!work_.compare_exchange_weak(seen, left, std::memory_order_acq_rel)) continue;
      run_(context_, from_back ? end_of(left) : begin_of(seen));
      done_.fetch_add(1, std::memory_order_release);
      return true;
    }
    return false;
  }
  static size_t begin_of(uint64_t work) { return work & kMostPieces; }
  static size_t end_of(uint64_t work) { return work >> 16 & kMostPieces; }
  static bool has_piece(uint64_t work) { return begin_of(work) < end_of(work); }

  // Whether there is something to do for the helper of this number: there may be more of them than
  // this round wants.
  bool is_wanted(int number) {
    return has_piece(work_.load(std::memory_order_acquire)) &&
           number < active_.load(std::memory_order_relaxed);
  }

  void help(int number) {
    const SingleThreaded inside;
    const FlushDenormals flushed;
    int64_t last = now_ns();
    while (!stops_.load(std::memory_order_relaxed)) {
      if (is_wanted(number) && take(true)) {
        last = 0;
        continue;
      }
      for (int i = 0; i < kPauses && !is_wanted(number); ++i) pause();
      const int64_t now = now_ns();
      if (last == 0) last = now;
      if (now - last > kPatience) {
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
  std::atomic<uint64_t> work_{0};
  std::atomic<size_t> done_{0};
  std::atomic<int> sleeping_{0}, active_{0};
  uint64_t round_ = 0;
  void (*run_)(void*, size_t) = nullptr;
  void* context_ = nullptr;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::unique_ptr<std::thread>> threads_;
};

}  // namespace

namespace {

// Ends the helpers when the process ends. In a forked child they do not run, and what waits for
// them there, such as the end of a condition that they slept on, would wait for ever.
class OwnedHelpers {
 public:
  ~OwnedHelpers() {
    if (!in_forked_child()) delete helpers_;
  }
  Helpers& get() { return *helpers_; }

 private:
  Helpers* helpers_ = new Helpers;
};

}  // namespace

void share_work(size_t n, int threads, void (*run)(void* context, size_t i), void* context) {
  static OwnedHelpers owned;
  const SingleThreaded inside;
  const MayStopWithin none(false);  // pieces do not throw
  if (threads > 1 && n > 1 && n <= kMostPieces && !in_forked_child() &&
      owned.get().share(n, threads, run, context)) {
    return;
  }
  for (size_t i = 0; i < n; ++i) run(context, i);
}

}  // namespace runhooks
