// Provides a buffer per thread in which the matrix product packs operands. It is freed when the
// thread ends.
#include <stdlib.h>

#include "kernels/instruction_sets.h"

namespace runhooks {

namespace {

struct Workspace {
  void* allocation = nullptr;
  size_t size = 0;
  ~Workspace() { free(allocation); }
};

thread_local Workspace workspace;

}  // namespace

void* gemm_workspace(size_t bytes) noexcept {
  const size_t alignment = 64;
  Workspace& buffer = workspace;
  if (bytes > buffer.size) {
    free(buffer.allocation);
    buffer.allocation = malloc(bytes + alignment);
    buffer.size = buffer.allocation ? bytes : 0;
    if (!buffer.allocation) return nullptr;
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(buffer.allocation);
  return reinterpret_cast<void*>((address + alignment - 1) / alignment * alignment);
}

}  // namespace runhooks
