// SharedMemoryAllReduce, by which processes that see the same memory add and compare.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/communicator.h"

namespace runhooks {

// Each process has two rooms in the memory, which it fills by turns: who fills one has seen all others
// begin with the room behind it, so that nobody reads it any longer, and nobody waits for that. What
// does not fit into a room goes by pieces. Two processes each add the whole, which takes one wait; more
// of them each add a slice of many values, and fetch those of the others. The order is that of the
// ranks, whatever the number of values and wherever they lie, so that all have the same bits.
class SharedMemoryAllReduce {
 public:
  // `memory` begins as zeros, at the begin of a line of the cache, and is for two processes at least. Who
  // waits looks `patience` times before it leaves the core to others, and then calls `progress` now and
  // then.
  SharedMemoryAllReduce(void* memory, int64_t room_bytes, int rank, int size, int64_t patience,
             void (*progress)());
  // Of how many bytes such memory is.
  static int64_t memory_bytes(int64_t room_bytes, int size);

  // As a Communicator has them. Errors: processes that do not add the same.
  void add(void* values, int64_t n, DType dtype);
  void average(const std::vector<ReduceBuffer>& parts, DType dtype);
  void largest(int64_t* values, int64_t n);

 private:
  // What a process has come to. What it adds there is another word after each step, so that the slow
  // ones still find it.
  struct Place {
    std::atomic<uint64_t> step;
    uint64_t doing[2];
    char rest[104];  // of two lines of a cache, which no other process writes
  };
  template <typename T, typename Combine, typename Last>
  void combine(const std::vector<ReduceBuffer>& parts, uint64_t kind, Combine combine, Last last);
  template <typename T, typename Combine, typename Last>
  void whole(const std::vector<ReduceBuffer>& parts, int64_t from, int64_t n, Combine combine, Last last);
  template <typename T, typename Combine, typename Last>
  void by_slices(const std::vector<ReduceBuffer>& parts, int64_t from, int64_t n, uint64_t doing,
                 Combine combine, Last last);
  template <typename T>
  void average_of(const std::vector<ReduceBuffer>& parts, DType dtype);
  template <typename T>
  T* room(int rank);
  // Until all have come so far, to the same.
  void meet(uint64_t doing);

  Place* places_;
  char* rooms_;
  int64_t room_bytes_;
  int rank_, size_;
  int64_t patience_;
  void (*progress_)();
  uint64_t step_ = 0;
  int half_ = 0;
};

}  // namespace runhooks
