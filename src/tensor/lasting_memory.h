// What lives here: memory of values that stay, such as a model's variables: many small ones share huge pages.
// Who may use it: Buffer; whoever makes values that stay, by StayingValues.
// What it must not know: tensors, variables, R.
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
class StayingValues {
 public:
  StayingValues();
  ~StayingValues();
  StayingValues(const StayingValues&) = delete;
  StayingValues& operator=(const StayingValues&) = delete;

 private:
  bool outer_;
};
bool values_stay();

// Begins with a line of the cache. NULL where the value is too large, or there is no memory.
void* allocate_lasting(size_t bytes);
void free_lasting(void* data);
// How many chunks there are.
size_t lasting_chunks();

// Tables that are visited in no order spend less time on finding their pages. From a whole page on.
void prefer_huge_pages(void* from, size_t bytes);

}  // namespace runhooks
