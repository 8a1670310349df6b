#include "cluster/shared_memory_all_reduce.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <type_traits>

#include "base/status.h"

namespace runhooks {

namespace {

// Below this size each process reduces all values itself, which is faster than a second barrier.
constexpr int64_t kSmallBytes = 4096;

// Integer overflow wraps around, as in MPI.
template <typename T>
struct Plus {
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Unsigned>(a) + static_cast<Unsigned>(b));
    } else {
      return a + b;
    }
  }
};

template <typename T>
struct Maximum {
  T operator()(T a, T b) const { return a < b ? b : a; }
};

// Computes the mean of two values. Multiplying by 0.5 gives the same bits as dividing by 2.
template <typename T>
struct MeanOfTwo {
  T operator()(T a, T b) const { return (a + b) * T(0.5); }
};

template <typename T>
struct SumDividedBy {
  T divisor;
  T operator()(T a, T b) const { return (a + b) / divisor; }
};

// Lets compilers vectorize a loop. Valid because its arrays are either identical or disjoint.
#if defined(__clang__)
#define RUNHOOKS_VECTORIZE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define RUNHOOKS_VECTORIZE_LOOP _Pragma("GCC ivdep")
#else
#define RUNHOOKS_VECTORIZE_LOOP
#endif

// Compilers vectorize loops of constant length even with -O2.
constexpr int64_t kBlock = 32;

// `to` may be `a` or `b`. Not inlined, so that all callers run the same instructions: the sum of
// two NaNs depends on the operand order, which compilers may swap.
template <typename T, typename Combine>
[[gnu::noinline]] void combine_values(const T* a, const T* b, int64_t n, T* to, Combine combine) {
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    RUNHOOKS_VECTORIZE_LOOP
    for (int64_t k = 0; k < kBlock; ++k) to[i + k] = combine(a[i + k], b[i + k]);
  }
  for (; i < n; ++i) to[i] = combine(a[i], b[i]);
}

// Combines the buffers of all ranks into `to`, which may be the buffer of rank 0.
template <typename T, typename BufferOf, typename Combine, typename CombineLast>
void combine_ranks(
    BufferOf buffer_of, int size, int64_t n, T* to, Combine combine, CombineLast combine_last) {
  const T* sum = buffer_of(0);
  for (int rank = 1; rank < size - 1; ++rank) {
    combine_values(sum, buffer_of(rank), n, to, combine);
    sum = to;
  }
  combine_values(sum, buffer_of(size - 1), n, to, combine_last);
}

// Calls f(values, mean, count, offset) for each buffer that overlaps [from, from + n).
template <typename T, typename F>
void for_each_buffer_in_range(const std::vector<ReduceBuffer>& buffers,
                              int64_t from,
                              int64_t n,
                              F f) {
  int64_t done = 0;
  for (const ReduceBuffer& buffer_part : buffers) {
    if (from >= buffer_part.n) {
      from -= buffer_part.n;
      continue;
    }
    const int64_t count = std::min(buffer_part.n - from, n - done);
    if (count == 0) return;
    f(static_cast<const T*>(buffer_part.values) + from, static_cast<T*>(buffer_part.mean) + from,
      count, done);
    done += count;
    from = 0;
  }
}

}  // namespace

SharedMemoryAllReduce::SharedMemoryAllReduce(
    void* memory, int64_t buffer_bytes, int rank, int size, int64_t spin_limit, void (*progress)())
    : progress_of_(static_cast<Progress*>(memory)),
      buffers_(static_cast<char*>(memory) + static_cast<size_t>(size) * sizeof(Progress)),
      buffer_bytes_(buffer_bytes),
      rank_(rank),
      size_(size),
      spin_limit_(spin_limit),
      progress_(progress) {
  static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(Progress) == 128,
                "atomics must be lock-free and Progress must fill its cache lines");
}

int64_t SharedMemoryAllReduce::memory_bytes(int64_t buffer_bytes, int size) {
  return size * (static_cast<int64_t>(sizeof(Progress)) + 2 * buffer_bytes);
}

// Waits until all processes have called it. Calls progress() while waiting, because another process
// may wait for an MPI message that this process has to complete.
void SharedMemoryAllReduce::barrier(uint64_t reduction) {
  ++step_;
  progress_of_[rank_].reduction[step_ % 2] = reduction;
  progress_of_[rank_].step.store(step_, std::memory_order_release);
  for (int rank = 0; rank < size_; ++rank) {
    for (int64_t tries = 1; progress_of_[rank].step.load(std::memory_order_acquire) < step_;
         ++tries) {
      if (tries < spin_limit_) continue;
      std::this_thread::yield();
      if (tries % 64 == 0) progress_();
    }
    if (progress_of_[rank].reduction[step_ % 2] != reduction) {
      fail(Code::kInternal, "Process ", rank, " runs another reduction than process ", rank_,
           ". All processes must run the same operations.");
    }
  }
}

template <typename T>
T* SharedMemoryAllReduce::buffer(int rank) {
  return reinterpret_cast<T*>(buffers_ + (2 * rank + current_buffer_) * buffer_bytes_);
}

template <typename T, typename Combine, typename CombineLast>
void SharedMemoryAllReduce::reduce_all(const std::vector<ReduceBuffer>& buffers,
                                       int64_t from,
                                       int64_t n,
                                       Combine combine,
                                       CombineLast combine_last) {
  for_each_buffer_in_range<T>(
      buffers, from, n, [&](const T* own, T* to, int64_t count, int64_t at) {
        if (size_ == 2) {
          const T* other = buffer<T>(1 - rank_) + at;
          const bool is_first = rank_ == 0;
          combine_values(is_first ? own : other, is_first ? other : own, count, to, combine_last);
        } else {
          combine_ranks([&](int rank) { return buffer<T>(rank) + at; }, size_, count, to, combine,
                        combine_last);
        }
      });
}

template <typename T, typename Combine, typename CombineLast>
void SharedMemoryAllReduce::reduce_by_slice(const std::vector<ReduceBuffer>& buffers,
                                            int64_t from,
                                            int64_t n,
                                            uint64_t reduction,
                                            Combine combine,
                                            CombineLast combine_last) {
  const int64_t cache_line_values = 128 / static_cast<int64_t>(sizeof(T));
  const int64_t slice = (n / size_ / cache_line_values + 1) * cache_line_values;
  const int64_t begin = std::min(slice * rank_, n), end = std::min(begin + slice, n);
  combine_ranks([&](int rank) { return buffer<T>(rank) + begin; }, size_, end - begin,
                buffer<T>(0) + begin, combine, combine_last);
  barrier(reduction);
  for_each_buffer_in_range<T>(buffers, from, n, [&](const T*, T* to, int64_t count, int64_t at) {
    std::memcpy(to, buffer<T>(0) + at, static_cast<size_t>(count) * sizeof(T));
  });
}

template <typename T, typename Combine, typename CombineLast>
void SharedMemoryAllReduce::combine(const std::vector<ReduceBuffer>& buffers,
                                    uint64_t kind,
                                    Combine combine,
                                    CombineLast combine_last) {
  int64_t n = 0;
  for (const ReduceBuffer& buffer_part : buffers) n += buffer_part.n;
  const uint64_t reduction = static_cast<uint64_t>(n) * 16 + kind;
  const int64_t max_chunk = buffer_bytes_ / static_cast<int64_t>(sizeof(T));
  int64_t done = 0;
  // Runs once even without values, so that the barrier detects processes that do have values.
  do {
    const int64_t chunk = std::min(max_chunk, n - done);
    for_each_buffer_in_range<T>(
        buffers, done, chunk, [&](const T* own, T*, int64_t count, int64_t at) {
          std::memcpy(buffer<T>(rank_) + at, own, static_cast<size_t>(count) * sizeof(T));
        });
    barrier(reduction);
    if (size_ == 2 || chunk * static_cast<int64_t>(sizeof(T)) <= kSmallBytes) {
      reduce_all<T>(buffers, done, chunk, combine, combine_last);
    } else {
      reduce_by_slice<T>(buffers, done, chunk, reduction, combine, combine_last);
    }
    current_buffer_ = 1 - current_buffer_;
    done += chunk;
  } while (done < n);
}

void SharedMemoryAllReduce::add(void* values, int64_t n, DType dtype) {
  const std::vector<ReduceBuffer> buffers = {{values, values, n}};
  const auto kind = static_cast<uint64_t>(dtype);
  switch (dtype) {
    case DType::kFloat32:
      return combine<float>(buffers, kind, Plus<float>(), Plus<float>());
    case DType::kFloat64:
      return combine<double>(buffers, kind, Plus<double>(), Plus<double>());
    case DType::kInt32:
      return combine<int32_t>(buffers, kind, Plus<int32_t>(), Plus<int32_t>());
    case DType::kInt64:
      return combine<int64_t>(buffers, kind, Plus<int64_t>(), Plus<int64_t>());
    default:
      fail(Code::kUnimplemented, "Cannot reduce values of type ", dtype_name(dtype), ".");
  }
}

template <typename T>
void SharedMemoryAllReduce::average_of(const std::vector<ReduceBuffer>& buffers, DType dtype) {
  const uint64_t kind = 10 + static_cast<uint64_t>(dtype);
  if (size_ == 2) {
    combine<T>(buffers, kind, Plus<T>(), MeanOfTwo<T>());
  } else {
    combine<T>(buffers, kind, Plus<T>(), SumDividedBy<T>{static_cast<T>(size_)});
  }
}

void SharedMemoryAllReduce::average(const std::vector<ReduceBuffer>& buffers, DType dtype) {
  if (dtype == DType::kFloat64) {
    average_of<double>(buffers, dtype);
  } else {
    average_of<float>(buffers, dtype);
  }
}

void SharedMemoryAllReduce::largest(int64_t* values, int64_t n) {
  combine<int64_t>({{values, values, n}}, 0, Maximum<int64_t>(), Maximum<int64_t>());
}

}  // namespace runhooks
