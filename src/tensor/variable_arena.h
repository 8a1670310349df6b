// Memory of values that stay, such as a model's variables: many small ones share huge pages.
#pragma once

#include <cstddef>

namespace runhooks {

constexpr size_t kHugePage = size_t{2} << 20;
// Larger values have pages of their own.
constexpr size_t kLargestLasting = size_t{1} << 20;

// A step that visits hundreds of tables, or large ones in no order, waits for the addresses of pages
// as long as for the numbers, where each table lies in small pages of its own. Tables side by side
// in huge pages are found at once. What comes and goes with a step has no place there, for a chunk
// is given back as a whole.

// While one lives, buffers that this thread allocates are of values that stay.
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

// Begins with a line of the cache. NULL where the value is too large, or there is no memory.
void* arena_allocate(size_t bytes);
void free_lasting(void* data);
// How many chunks there are.
size_t arena_chunk_count();

// Tables that are visited in no order spend less time on finding their pages. From a whole page on.
void prefer_huge_pages(void* from, size_t bytes);

}  // namespace runhooks
