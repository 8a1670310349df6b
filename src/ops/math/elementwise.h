// Kernels that apply a function to each element of one tensor, or of two with broadcasting.
#pragma once

#include <type_traits>

#include "base/parallel_for.h"
#include "graph/op_registry.h"
#include "ops/math/vector_math.h"

namespace runhooks {

// Tells the compiler that the iterations of a loop are independent.
#if defined(__GNUC__) && !defined(__clang__)
#define RUNHOOKS_INDEPENDENT _Pragma("GCC ivdep")
#else
#define RUNHOOKS_INDEPENDENT
#endif

// Calls f(0) ... f(n - 1). Vectorizes only floating-point functions, because integer functions may
// throw. Uses blocks, because GCC at -O2 vectorizes only loops of constant length.
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

// Calls f(i) for the elements of whole vectors of eight floats, and scalar_f(i) for the remainder.
// TensorFlow also computes the remainder by other code, with different last bits.
template <typename F, typename ScalarF>
inline void parallel_for_vectors(int64_t n, F f, ScalarF scalar_f) {
  constexpr int64_t kVector = 8;
  parallel_for_range(n, [f, scalar_f](int64_t first, int64_t count) {  // chunks start at a vector
    int64_t i = first;
    for (; i + kVector <= first + count; i += kVector) {
      RUNHOOKS_INDEPENDENT
      for (int64_t k = 0; k < kVector; ++k) f(i + k);
    }
    for (; i < first + count; ++i) scalar_f(i);
  });
}
template <typename T>
inline bool is_parallel_loop(int64_t n) {
  return std::is_floating_point_v<T> && is_worth_parallelizing(n);
}

// A kernel that applies a loop to one tensor. Only the loop is a template argument of the derived
// classes, so that this code is compiled once for all functions and types.
class UnaryLoopKernel : public Kernel {
 public:
  using Loop = void (*)(const void* x, void* y, int64_t n);
  UnaryLoopKernel(Loop loop, size_t in_size, size_t out_size, bool may_parallelize)
      : loop_(loop), in_size_(in_size), out_size_(out_size), may_parallelize_(may_parallelize) {}
  bool uses_threads() const final { return may_parallelize_ && is_worth_parallelizing(n_); }
  void prepare(KernelContext& c) final;
  void compute(KernelContext&) final;

 private:
  const Loop loop_;
  const size_t in_size_, out_size_;
  const bool may_parallelize_;
  const char* x_ = nullptr;
  char* y_ = nullptr;
  int64_t n_ = 0;
};

// Applies F::apply(T), which returns R, to each element.
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

// How a binary loop reads two broadcast operands. The output consists of blocks of `inner`
// elements. In each block, an operand is contiguous (step 1) or one repeated element (step 0).
struct BroadcastLayout {
  int64_t n = 0;
  int64_t inner = 0;
  int64_t a_step = 1, b_step = 1;
  // For each block, the offset of its first element in the operand; empty if there is one block.
  std::vector<int64_t> a_offsets, b_offsets;
};
BroadcastLayout broadcast_layout(const Shape& a, const Shape& b, const Shape& out);

// Like UnaryLoopKernel, for two tensors with broadcasting. The loop needs contiguous operands, so a
// repeated operand is copied to a small buffer. Its length is a multiple of the vector length.
class BinaryLoopKernel : public Kernel {
 public:
  using Loop = void (*)(const void* a, const void* b, void* y, int64_t n);
  BinaryLoopKernel(Loop loop, size_t in_size, size_t out_size, bool may_parallelize)
      : loop_(loop), in_size_(in_size), out_size_(out_size), may_parallelize_(may_parallelize) {}
  bool uses_threads() const final { return may_parallelize_ && is_worth_parallelizing(layout_.inner); }
  void prepare(KernelContext& c) final;
  void compute(KernelContext&) final;

 private:
  void run_block(const char* a, const char* b, char* y) const;
  void run_repeated(const char* a, const char* b, char* y, int64_t n) const;
  void run_small_blocks() const;

  const Loop loop_;
  const size_t in_size_, out_size_;
  const bool may_parallelize_;
  const char *a_ = nullptr, *b_ = nullptr;
  char* y_ = nullptr;
  BroadcastLayout layout_;
  // Whether all blocks of an operand are contiguous in memory.
  bool a_is_dense_ = false, b_is_dense_ = false;
};

// Applies F::apply(T, T), which returns R, to each pair of elements.
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

// The kernels of a function whose operands and result have one type.
template <typename F>
struct Elementwise {
  template <typename T>
  using Unary = UnaryKernel<T, T, F>;
  template <typename T>
  using Binary = BinaryKernel<T, T, F>;
};

template <typename F>
KernelFactory float_unary_kernel() {
  return kernel_by_type<Elementwise<F>::template Unary, float, double>();
}

template <typename F>
KernelFactory float_binary_kernel() {
  return kernel_by_type<Elementwise<F>::template Binary, float, double>();
}

// Defines a function of x, or of a and b, for these kernels.
#define RUNHOOKS_UNARY_FN(name, expression) \
  struct name {                             \
    template <typename T>                   \
    static T apply(T x) {                   \
      return static_cast<T>(expression);    \
    }                                       \
  }
#define RUNHOOKS_BINARY_FN(name, expression) \
  struct name {                              \
    template <typename T>                    \
    static T apply(T a, T b) {               \
      return static_cast<T>(expression);     \
    }                                        \
  }

}  // namespace runhooks
