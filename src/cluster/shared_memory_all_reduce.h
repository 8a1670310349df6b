// SharedMemoryAllReduce: sum, mean and maximum over processes that share memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/communicator.h"

namespace runhooks {

// Each process has two buffers and alternates between them, which saves a barrier: when a process
// refills one buffer, all processes have started to read the other. Data that exceed a buffer are
// reduced in chunks. With two processes, each reduces everything, after one barrier. With more
// processes, each reduces a slice and, after a second barrier, copies the slices of the others.
// Values are combined in the order of the ranks, so that all processes get the same bits.
class SharedMemoryAllReduce {
 public:
  // `memory` must be zeroed, aligned to a cache line and used by at least two processes. A waiting
  // process polls `spin_limit` times, then yields between polls and calls `progress` occasionally.
  SharedMemoryAllReduce(void* memory,
                        int64_t buffer_bytes,
                        int rank,
                        int size,
                        int64_t spin_limit,
                        void (*progress)());
  static int64_t memory_bytes(int64_t buffer_bytes, int size);

  // The same as in Communicator (communicator.h). Throw if the processes run different reductions.
  void add(void* values, int64_t n, DType dtype);
  void average(const std::vector<ReduceBuffer>& buffers, DType dtype);
  void largest(int64_t* values, int64_t n);

 private:
  // Progress of a process. `reduction` identifies its last two reductions, because a slower process
  // may still have to compare the previous one.
  struct Progress {
    std::atomic<uint64_t> step;
    uint64_t reduction[2];
    char padding[104];  // fills two cache lines, to avoid false sharing
  };
  template <typename T, typename Combine, typename CombineLast>
  void combine(const std::vector<ReduceBuffer>& buffers,
               uint64_t kind,
               Combine combine,
               CombineLast combine_last);
  template <typename T, typename Combine, typename CombineLast>
  void reduce_all(const std::vector<ReduceBuffer>& buffers,
                  int64_t from,
                  int64_t n,
                  Combine combine,
                  CombineLast combine_last);
  template <typename T, typename Combine, typename CombineLast>
  void reduce_by_slice(const std::vector<ReduceBuffer>& buffers,
                       int64_t from,
                       int64_t n,
                       uint64_t reduction,
                       Combine combine,
                       CombineLast combine_last);
  template <typename T>
  void average_of(const std::vector<ReduceBuffer>& buffers, DType dtype);
  template <typename T>
  T* buffer(int rank);
  // Waits until all processes have called it, and checks that all of them run the same reduction.
  void barrier(uint64_t reduction);

  Progress* progress_of_;
  char* buffers_;
  int64_t buffer_bytes_;
  int rank_, size_;
  int64_t spin_limit_;
  void (*progress_)();
  uint64_t step_ = 0;
  int current_buffer_ = 0;  // 0 or 1
};

}  // namespace runhooks
