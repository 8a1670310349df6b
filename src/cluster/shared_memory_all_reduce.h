// SharedMemoryAllReduce: sum, mean and maximum over processes that share memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/communicator.h"

namespace runhooks {

// Each process has two buffers and alternates between them. When it refills one, all processes have
// started on the other, so none reads it any more; this saves a barrier. Larger data go in chunks.
// Two processes each reduce everything, which needs one barrier; more processes each reduce a slice
// and then copy the others. Values are combined in rank order, so that all processes get the same
// bits.
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

  // As in Communicator. Throw if the processes run different reductions.
  void add(void* values, int64_t n, DType dtype);
  void average(const std::vector<ReduceBuffer>& parts, DType dtype);
  void largest(int64_t* values, int64_t n);

 private:
  // Progress of a process. `reduction` identifies its last two reductions, so that slower processes
  // can still compare them.
  struct Progress {
    std::atomic<uint64_t> step;
    uint64_t reduction[2];
    char rest[104];  // fills two cache lines, to avoid false sharing
  };
  template <typename T, typename Combine, typename Last>
  void combine(const std::vector<ReduceBuffer>& parts, uint64_t kind, Combine combine, Last last);
  template <typename T, typename Combine, typename Last>
  void reduce_all(
      const std::vector<ReduceBuffer>& parts, int64_t from, int64_t n, Combine combine, Last last);
  template <typename T, typename Combine, typename Last>
  void reduce_by_slice(const std::vector<ReduceBuffer>& parts,
                       int64_t from,
                       int64_t n,
                       uint64_t reduction,
                       Combine combine,
                       Last last);
  template <typename T>
  void average_of(const std::vector<ReduceBuffer>& parts, DType dtype);
  template <typename T>
  T* buffer(int rank);
  // A barrier, which also checks that all processes run the same reduction.
  void barrier(uint64_t reduction);

  Progress* progress_of_;
  char* buffers_;
  int64_t buffer_bytes_;
  int rank_, size_;
  int64_t spin_limit_;
  void (*progress_)();
  uint64_t step_ = 0;
  int half_ = 0;
};

}  // namespace runhooks
