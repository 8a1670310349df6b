// The processor's mode in which numbers too small to be normal count as zero.
#pragma once

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace runhooks {

// TensorFlow's operations run so. A model that has learned its data by heart has gradients of such
// sizes, and a product of them takes a hundred times as long as one of normal numbers.
class DenormalMode {
 public:
  explicit DenormalMode(bool flush) noexcept : before_(control()) {
    const Control wanted = flush ? before_ | kFlush : before_ & ~kFlush;
    changed_ = wanted != before_;
    if (changed_) set_control(wanted);
  }
  ~DenormalMode() {
    if (changed_) set_control(before_);
  }
  DenormalMode(const DenormalMode&) = delete;
  DenormalMode& operator=(const DenormalMode&) = delete;

 private:
#if defined(__SSE__)
  using Control = uint32_t;
  static constexpr Control kFlush = 0x8040;  // of results, and of what is given
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

  Control before_;
  bool changed_;
};

// While one lives, such numbers are zero in this thread.
class FlushDenormals : DenormalMode {
 public:
  FlushDenormals() noexcept : DenormalMode(true) {}
};

// While one lives, they are numbers, as C++ and R know them.
class RestoreFpModeScope : DenormalMode {
 public:
  RestoreFpModeScope() noexcept : DenormalMode(false) {}
};

}  // namespace runhooks
