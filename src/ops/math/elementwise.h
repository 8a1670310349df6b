// Kernels that apply a function to each element of one tensor, or of two with broadcasting.
#pragma once

#include <type_traits>

#include "base/parallel_for.h"
#include "graph/kernel.h"
#include "ops/math/vector_math.h"

namespace runhooks {

// Tells the compiler that the calls of f are independent.
#if defined(__GNUC__) && !defined(__clang__)
#define RUNHOOKS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define RUNHOOKS_INDEPENDENT
#endif

// Calls f(0) ... f(n - 1), vectorized for floating point; integer functions may throw, which a
// vectorized loop must not. Uses blocks, because at -O2 GCC vectorizes only loops of constant
// length.
template <typename T, typename F>
inline void for_elements(int64_t n, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr int64_t kBlock = 8;
    int64_t i = 0;
    for (; i + kBlock <= n; i += kBlock) {
      RUNHOOKS_INDEPENDENT
      for (int64_t k = 0; k < kBlock; ++k) f(i + k);
    }
    for (; i < n; ++i) f(i);
  } else {
    for (int64_t i = 0; i < n; ++i) f(i);
  }
}

// The same for long loops, split among threads.
template <typename T, typename F>
inline void share_elements(int64_t n, F f) {
  if constexpr (std::is_floating_point_v<T>) {
    parallel_for_range(n, [f](int64_t first, int64_t count) {
      for_elements<T>(count, [f, first](int64_t i) { f(first + i); });
    });
  } else {
    for_elements<T>(n, f);
  }
}
// Calls f(i) for whole vectors of eight floats, as TensorFlow does, and rest(i) for the remainder,
// which TensorFlow computes one by one with different last bits.
template <typename F, typename Rest>
inline void share_vectors(int64_t n, F f, Rest rest) {
  constexpr int64_t kVector = 8;
  parallel_for_range(n, [f, rest](int64_t first, int64_t count) {  // chunks start at a vector
    int64_t i = first;
    for (; i + kVector <= first + count; i += kVector) {
      RUNHOOKS_INDEPENDENT
      for (int64_t k = 0; k < kVector; ++k) f(i + k);
    }
    for (; i < first + count; ++i) rest(i);
  });
}
template <typename T>
inline bool shares_elements(int64_t n) {
  return std::is_floating_point_v<T> && is_worth_sharing(n);
}

// F has `static R apply(T x)`.
template <typename T, typename R, typename F>
class UnaryKernel : public Kernel {
 public:
  bool uses_threads() const override { return shares_elements<T>(n_); }
  void prepare(KernelContext& c) override {
    x_ = c.input(0).data<T>();
    y_ = c.output(0).template data<R>();
    n_ = c.input(0).num_elements();
  }
  void compute(KernelContext&) override {
    const T* x = x_;
    R* y = y_;
    share_elements<T>(n_, [=](int64_t i) { y[i] = F::apply(x[i]); });
  }

 private:
  const T* x_ = nullptr;
  R* y_ = nullptr;
  int64_t n_ = 0;
};

// How two operands align with the output. `*_step` is 0 for a single element. The general case
// iterates over `outer` blocks of `inner` elements, with an offset per operand and block.
struct BroadcastLayout {
  int64_t n = 0;
  int64_t inner = 0;
  int64_t a_step = 1, b_step = 1;
  // Offsets of each block; empty if there is only one.
  std::vector<int64_t> a_offsets, b_offsets;
};
BroadcastLayout broadcast_layout(const Shape& a, const Shape& b, const Shape& out);

// F has `static R apply(T a, T b)`.
template <typename T, typename R, typename F>
class BinaryKernel : public Kernel {
 public:
  bool uses_threads() const override { return shares_elements<T>(layout_.inner); }
  void prepare(KernelContext& c) override {
    a_ = c.input(0).data<T>();
    b_ = c.input(1).data<T>();
    y_ = c.output(0).template data<R>();
    layout_ = broadcast_layout(c.input(0).shape(), c.input(1).shape(), c.output(0).shape());
  }
  void compute(KernelContext&) override {
    if (layout_.a_offsets.empty()) {
      run_block(a_, b_, y_);
      return;
    }
    R* y = y_;
    for (size_t block = 0; block < layout_.a_offsets.size(); ++block, y += layout_.inner) {
      run_block(a_ + layout_.a_offsets[block], b_ + layout_.b_offsets[block], y);
    }
  }

 private:
  void run_block(const T* a, const T* b, R* y) const {
    const int64_t n = layout_.inner;
    if (layout_.a_step == 0) {
      const T a0 = *a;
      if (layout_.b_step == 0) {
        const R r = F::apply(a0, *b);
        for (int64_t i = 0; i < n; ++i) y[i] = r;
      } else {
        share_elements<T>(n, [=](int64_t i) { y[i] = F::apply(a0, b[i]); });
      }
    } else if (layout_.b_step == 0) {
      const T b0 = *b;
      share_elements<T>(n, [=](int64_t i) { y[i] = F::apply(a[i], b0); });
    } else {
      share_elements<T>(n, [=](int64_t i) { y[i] = F::apply(a[i], b[i]); });
    }
  }

  const T* a_ = nullptr;
  const T* b_ = nullptr;
  R* y_ = nullptr;
  BroadcastLayout layout_;
};

}  // namespace runhooks
