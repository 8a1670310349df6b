#include "tensor/variable_arena.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "base/memory.h"
#include "base/platform.h"

#if !defined(_WIN32)
#include <sys/mman.h>
#endif

namespace runhooks {

namespace {

constexpr size_t kLine = 64;
// Chunks are aligned to their size, so that the chunk of an address is found by rounding down.
constexpr size_t kChunkSize = 2 * kHugePage;

struct Chunk {
  void* allocation;
  size_t used;  // bytes, including the header
  size_t num_live;
};
constexpr size_t kHeader = kLine;
static_assert(sizeof(Chunk) <= kHeader);

std::mutex guard;
Chunk* current = nullptr;  // the chunk for the next value; never an empty one
size_t num_chunks = 0;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Untouched pages take no memory. The choice is made once per process, so that memory is freed the
// way it was allocated.
#if defined(_WIN32)
bool maps_pages() { return false; }
void* map_pages(size_t) { return nullptr; }
void unmap_pages(void*, size_t) {}
#else
// Not malloc(), which retains more memory after large blocks have been freed.
bool maps_pages() {
  static const bool is_so = feature_enabled(SystemFeature::kMmap);
  return is_so;
}
void* map_pages(size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
void unmap_pages(void* memory, size_t bytes) { munmap(memory, bytes); }
#endif

void* reserve(size_t bytes) { return maps_pages() ? map_pages(bytes) : std::malloc(bytes); }
void free_pages(void* memory, size_t bytes) {
  if (maps_pages()) return unmap_pages(memory, bytes);
  std::free(memory);
}

Chunk* new_chunk() {
  if (!reserve_memory(kChunkSize)) return nullptr;
  void* const allocation = reserve(2 * kChunkSize);
  if (!allocation) {
    release_memory(kChunkSize);
    return nullptr;
  }
  const auto address = reinterpret_cast<uintptr_t>(allocation);
  void* const begin = reinterpret_cast<void*>(rounded_up(address, kChunkSize));
  // madvise() must precede the first access. The first huge page of the process stays ordinary, so
  // that small models use little memory.
  const size_t ordinary = num_chunks++ == 0 ? kHugePage : 0;
  prefer_huge_pages(static_cast<char*>(begin) + ordinary, kChunkSize - ordinary);
  return new (begin) Chunk{allocation, kHeader, 0};
}

void free_chunk(Chunk* chunk) {
  free_pages(chunk->allocation, 2 * kChunkSize);
  release_memory(kChunkSize);
  --num_chunks;
}

bool& persistent_flag() {
  static thread_local bool is_so = false;
  return is_so;
}

}  // namespace

PersistentAllocScope::PersistentAllocScope() : outer_(persistent_flag()) {
  persistent_flag() = true;
}
PersistentAllocScope::~PersistentAllocScope() { persistent_flag() = outer_; }
bool in_persistent_scope() { return persistent_flag(); }

void* arena_allocate(size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  return nullptr;  // AddressSanitizer finds overflows only in separate allocations
#endif
  if (bytes > kMaxArenaBytes) return nullptr;
  const size_t size = std::max(rounded_up(bytes, kLine), kLine);
  const std::lock_guard<std::mutex> lock(guard);
  if (!current || current->used + size > kChunkSize) {
    Chunk* const chunk = new_chunk();
    if (!chunk) return nullptr;
    current = chunk;
  }
  void* const data = reinterpret_cast<char*>(current) + current->used;
  current->used += size;
  ++current->num_live;
  return data;
}

void arena_free(void* data) {
  const std::lock_guard<std::mutex> lock(guard);
  const auto address = reinterpret_cast<uintptr_t>(data);
  auto* const chunk = reinterpret_cast<Chunk*>(address / kChunkSize * kChunkSize);
  if (--chunk->num_live > 0) return;
  if (chunk == current) current = nullptr;
  free_chunk(chunk);
}

// lint: allow caller (for tests)
size_t arena_chunk_count() {
  const std::lock_guard<std::mutex> lock(guard);
  return num_chunks;
}

void prefer_huge_pages([[maybe_unused]] void* from, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  static const bool is_wanted = feature_enabled(SystemFeature::kHugePages);
  if (!is_wanted) return;
  // madvise() is only advice, so errors are ignored.
  madvise(from, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
}

}  // namespace runhooks
