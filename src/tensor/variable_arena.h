// An arena for variables and other long-lived buffers: packs small buffers into huge pages.
#pragma once

#include <cstddef>

#include "base/scoped_value.h"

namespace runhooks {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMaxArenaBytes = size_t{1} << 20;

// Inside this scope, Buffer::allocate() on this thread uses the arena. With hundreds of small
// variables, TLB misses cost as much as the data; huge pages avoid them. A chunk of the arena is
// freed as a whole, so buffers that live for a step must not be allocated here.
class PersistentAllocScope {
 public:
  PersistentAllocScope() : scope_(is_active_, true) {}
  static bool is_active() { return is_active_; }

 private:
  static inline thread_local bool is_active_ = false;
  ScopedValue<bool> scope_;
};

// Returns memory aligned to a cache line; NULL if `bytes` exceeds kMaxArenaBytes or memory is
// exhausted.
void* arena_allocate(size_t bytes);
void arena_free(void* data);
size_t arena_chunk_count();

// Asks the system for huge pages, which reduce TLB misses of random accesses. Affects only the huge
// pages that lie completely within the block.
void prefer_huge_pages(void* from, size_t bytes);

}  // namespace runhooks
