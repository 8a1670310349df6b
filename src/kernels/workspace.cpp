// The packing buffer of each thread, which grows and is reused.
#include <stdlib.h>

#include "kernels/gemm.h"

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
  Workspace& own = workspace;
  if (bytes > own.size) {
    free(own.allocation);
    own.allocation = malloc(bytes + alignment);
    own.size = own.allocation ? bytes : 0;
    if (!own.allocation) return nullptr;
  }
  const uintptr_t address = reinterpret_cast<uintptr_t>(own.allocation);
  return reinterpret_cast<void*>((address + alignment - 1) / alignment * alignment);
}

}  // namespace runhooks
