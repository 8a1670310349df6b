// Scopes that switch the CPU mode in which denormal numbers are treated as zero.
#pragma once

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace runhooks {

// TensorFlow's kernels treat denormal numbers as zero. An overfitted model has gradients in the
// denormal range, where arithmetic is many times slower.
class DenormalMode {
 public:
  explicit DenormalMode(bool flush) noexcept : previous_(control()) {
    const Control requested = flush ? previous_ | kFlush : previous_ & ~kFlush;
    changed_ = requested != previous_;
    if (changed_) set_control(requested);
  }
  ~DenormalMode() {
    if (changed_) set_control(previous_);
  }
  DenormalMode(const DenormalMode&) = delete;
  DenormalMode& operator=(const DenormalMode&) = delete;

 private:
#if defined(__SSE__)
  using Control = uint32_t;
  static constexpr Control kFlush = 0x8040;  // flush results (FTZ) and inputs (DAZ)
  static Control control() noexcept { return _mm_getcsr(); }
  static void set_control(Control to) noexcept { _mm_setcsr(to); }
#elif defined(__aarch64__)
  using Control = uint64_t;
  static constexpr Control kFlush = Control{1} << 24;
  static Control control() noexcept {
    Control now;
    asm volatile("mrs %0, fpcr" : "=r"(now));
    return now;
  }
  static void set_control(Control to) noexcept { asm volatile("msr fpcr, %0" : : "r"(to)); }
#else
  using Control = uint32_t;
  static constexpr Control kFlush = 0;
  static Control control() noexcept { return 0; }
  static void set_control(Control) noexcept {}
#endif

  Control previous_;
  bool changed_;
};

// Inside this scope, this thread treats denormal numbers as zero.
class FlushDenormals : DenormalMode {
 public:
  FlushDenormals() noexcept : DenormalMode(true) {}
};

// Inside this scope, this thread computes with denormal numbers exactly, as C++ and R expect.
class ExactDenormals : DenormalMode {
 public:
  ExactDenormals() noexcept : DenormalMode(false) {}
};

}  // namespace runhooks
