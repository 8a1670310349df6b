// An arena for long-lived buffers, such as variables, which packs small ones into huge pages.
#pragma once

#include <cstddef>

namespace runhooks {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kMaxArenaBytes = size_t{1} << 20;

// With hundreds of small tables, TLB misses cost as much as the data, and huge pages avoid them. Do
// not allocate per-step buffers here; a chunk is freed as a whole.

// Inside this scope, buffers that this thread allocates are long-lived.
class PersistentAllocScope {
 public:
  PersistentAllocScope();
  ~PersistentAllocScope();
  PersistentAllocScope(const PersistentAllocScope&) = delete;
  PersistentAllocScope& operator=(const PersistentAllocScope&) = delete;

 private:
  bool outer_;
};
bool in_persistent_scope();

// Returns memory aligned to a cache line; NULL if the value is too large or memory is exhausted.
void* arena_allocate(size_t bytes);
void arena_free(void* data);
size_t arena_chunk_count();

// Advises huge pages for tables with random access, to reduce TLB misses. Affects whole huge pages.
void prefer_huge_pages(void* from, size_t bytes);

}  // namespace runhooks
