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

// Everything but the loop is compiled once for all functions and types: each function costs the
// compiler one loop per type. A loop of floating-point numbers may be split among threads.
class UnaryLoopKernel : public Kernel {
 public:
  using Loop = void (*)(const void* x, void* y, int64_t n);
  UnaryLoopKernel(Loop loop, size_t in_size, size_t out_size, bool is_shared)
      : loop_(loop), in_size_(in_size), out_size_(out_size), is_shared_(is_shared) {}
  bool uses_threads() const final { return is_shared_ && is_worth_sharing(n_); }
  void prepare(KernelContext& c) final;
  void compute(KernelContext&) final;

 private:
  const Loop loop_;
  const size_t in_size_, out_size_;
  const bool is_shared_;
  const char* x_ = nullptr;
  char* y_ = nullptr;
  int64_t n_ = 0;
};

// F has `static R apply(T x)`.
template <typename T, typename R, typename F>
class UnaryKernel final : public UnaryLoopKernel {
 public:
  UnaryKernel() : UnaryLoopKernel(loop, sizeof(T), sizeof(R), std::is_floating_point_v<T>) {}

 private:
  static void loop(const void* from, void* to, int64_t n) {
    const T* x = static_cast<const T*>(from);
    R* y = static_cast<R*>(to);
    for_elements<T>(n, [=](int64_t i) { y[i] = F::apply(x[i]); });
  }
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

// As UnaryLoopKernel. The loop sees two operands without gaps or repeats: a repeated one is copied
// into a small buffer, whose length is a multiple of what a loop computes at once.
class BinaryLoopKernel : public Kernel {
 public:
  using Loop = void (*)(const void* a, const void* b, void* y, int64_t n);
  BinaryLoopKernel(Loop loop, size_t in_size, size_t out_size, bool is_shared)
      : loop_(loop), in_size_(in_size), out_size_(out_size), is_shared_(is_shared) {}
  bool uses_threads() const final { return is_shared_ && is_worth_sharing(layout_.inner); }
  void prepare(KernelContext& c) final;
  void compute(KernelContext&) final;

 private:
  void run_block(const char* a, const char* b, char* y) const;
  void run_repeated(const char* a, const char* b, char* y, int64_t n) const;
  void run_small_blocks() const;

  const Loop loop_;
  const size_t in_size_, out_size_;
  const bool is_shared_;
  const char *a_ = nullptr, *b_ = nullptr;
  char* y_ = nullptr;
  BroadcastLayout layout_;
  // Whether the blocks of an operand follow each other in memory.
  bool a_is_dense_ = false, b_is_dense_ = false;
};

// F has `static R apply(T a, T b)`.
template <typename T, typename R, typename F>
class BinaryKernel final : public BinaryLoopKernel {
 public:
  BinaryKernel() : BinaryLoopKernel(loop, sizeof(T), sizeof(R), std::is_floating_point_v<T>) {}

 private:
  static void loop(const void* first, const void* second, void* to, int64_t n) {
    const T *a = static_cast<const T*>(first), *b = static_cast<const T*>(second);
    R* y = static_cast<R*>(to);
    for_elements<T>(n, [=](int64_t i) { y[i] = F::apply(a[i], b[i]); });
  }
};

}  // namespace runhooks
