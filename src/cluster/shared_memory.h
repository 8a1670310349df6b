// SharedMemory, bytes that all processes of a run on one machine see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cluster/communicator.h"

namespace runhooks {

// Begins as zeros. It has no name in any folder: of processes that are killed nothing is left.
class SharedMemory {
 public:
  SharedMemory(void* bytes, size_t size) : bytes_(bytes), size_(size) {}
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  void* bytes() const { return bytes_; }

 private:
  void* bytes_;
  size_t size_;
};

// All processes call it, and get it, or all get NULL: where one of them cannot have it (a container of
// its own, no memory left), or the system is not Linux.
std::unique_ptr<SharedMemory> shared_memory(Communicator& all, int64_t size);

}  // namespace runhooks
