// The memory limit of the process, and accounting of the memory in large buffers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace runhooks {

// Returns the memory of the machine in bytes or, if smaller, the limit of the container. Returns
// the largest uint64_t if both are unknown.
uint64_t memory_limit();
// Sets the limit and returns the previous one.
uint64_t set_memory_limit(uint64_t bytes);

// Accounts for a large allocation; returns false if it exceeds the limit. With overcommit, malloc()
// would succeed and the system would kill the process on first use.
bool reserve_memory(uint64_t bytes);
void release_memory(uint64_t bytes);
// Bytes that are reserved now.
uint64_t reserved_memory();

// Inside this scope, large allocations may take at most `bytes` more than before it.
class MemoryBudget {
 public:
  explicit MemoryBudget(uint64_t bytes) : limit_(memory_limit()) {
    set_memory_limit(std::min(limit_, reserved_memory() + bytes));
  }
  ~MemoryBudget() { set_memory_limit(limit_); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

 private:
  uint64_t limit_;
};

}  // namespace runhooks
