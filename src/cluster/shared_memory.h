// SharedMemory: memory shared by the processes of a run on one machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cluster/communicator.h"

namespace runhooks {

// The memory is initially zero. It has no file name, so the system frees it even if processes are
// killed.
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

// Creates memory of `size` bytes; all processes must call it. Returns NULL in all processes if one
// of them cannot map the memory, because it runs in another container. Only Linux is supported.
std::unique_ptr<SharedMemory> shared_memory(Communicator& comm, int64_t size);

}  // namespace runhooks
