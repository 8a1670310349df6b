// TaskBatch, the pieces of one piece of work, which threads take until none is left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace runhooks {

// `work_` holds the round, the end of the pieces that are left and the first of them. Who has moved
// one of the two owns a piece, and the round cannot end before the piece is done. Who shares takes
// from the front and others from the back: what is shared again and again finds the same pieces in
// the cache of the same core.
class TaskBatch {
 public:
  static constexpr size_t kMaxTasks = 0xffff;

  // Only when the round before is done, and by one thread.
  void begin(size_t n, void (*run)(void*, size_t), void* context) {
    run_ = run;
    context_ = context;
    done_.store(0, std::memory_order_relaxed);
    ++round_;
    work_.store(round_ << 32 | static_cast<uint64_t>(n) << 16);
  }
  // Does one piece; FALSE where none is left.
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
  bool has_piece() const { return has_piece(work_.load()); }
  size_t done() const { return done_.load(std::memory_order_acquire); }

 private:
  static size_t begin_of(uint64_t work) { return work & kMaxTasks; }
  static size_t end_of(uint64_t work) { return work >> 16 & kMaxTasks; }
  static bool has_piece(uint64_t work) { return begin_of(work) < end_of(work); }

  std::atomic<uint64_t> work_{0};
  std::atomic<size_t> done_{0};
  uint64_t round_ = 0;
  void (*run_)(void*, size_t) = nullptr;
  void* context_ = nullptr;
};

inline void cpu_relax() {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // waits about as long as x86's pause; `yield` does nothing on most cores
#endif
}

}  // namespace runhooks
