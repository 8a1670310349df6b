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

constexpr size_t kCacheLine = 64;
// Chunks are aligned to their size, so that rounding down an address gives its chunk.
constexpr size_t kChunkSize = 2 * kHugePage;

struct Chunk {
  void* allocation;
  size_t used;      // bytes, including the header
  size_t num_live;  // buffers in use
};
constexpr size_t kHeaderSize = kCacheLine;
static_assert(sizeof(Chunk) <= kHeaderSize);

std::mutex arena_mutex;
Chunk* current_chunk = nullptr;  // the chunk from which the next buffer is allocated
size_t num_chunks = 0;

size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Pages come from mmap() where possible, because malloc() keeps more memory after large blocks have
// been freed. The choice is made once per process, so that free_pages() matches allocate_pages().
// Untouched pages take no memory, so a chunk can be aligned by allocating twice its size.
#if defined(_WIN32)
bool uses_mmap() { return false; }
void* map_pages(size_t) { return nullptr; }
void unmap_pages(void*, size_t) {}
#else
bool uses_mmap() {
  static const bool is_enabled = feature_enabled(SystemFeature::kMmap);
  return is_enabled;
}
void* map_pages(size_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}
void unmap_pages(void* memory, size_t bytes) { munmap(memory, bytes); }
#endif

void* allocate_pages(size_t bytes) { return uses_mmap() ? map_pages(bytes) : std::malloc(bytes); }
void free_pages(void* memory, size_t bytes) {
  if (uses_mmap()) return unmap_pages(memory, bytes);
  std::free(memory);
}

Chunk* new_chunk() {
  if (!reserve_memory(kChunkSize)) return nullptr;
  void* const allocation = allocate_pages(2 * kChunkSize);
  if (!allocation) {
    release_memory(kChunkSize);
    return nullptr;
  }
  const auto address = reinterpret_cast<uintptr_t>(allocation);
  void* const begin = reinterpret_cast<void*>(round_up(address, kChunkSize));
  // madvise() must precede the first access. The first 2 MB of the process use small pages, so that
  // small models use little memory.
  const size_t num_small_page_bytes = num_chunks++ == 0 ? kHugePage : 0;
  prefer_huge_pages(static_cast<char*>(begin) + num_small_page_bytes,
                    kChunkSize - num_small_page_bytes);
  return new (begin) Chunk{allocation, kHeaderSize, 0};
}

void free_chunk(Chunk* chunk) {
  free_pages(chunk->allocation, 2 * kChunkSize);
  release_memory(kChunkSize);
  --num_chunks;
}

}  // namespace

void* arena_allocate(size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  return nullptr;  // AddressSanitizer finds overflows only in separate allocations
#endif
  if (bytes > kMaxArenaBytes) return nullptr;
  const size_t size = std::max(round_up(bytes, kCacheLine), kCacheLine);
  const std::lock_guard<std::mutex> lock(arena_mutex);
  if (!current_chunk || current_chunk->used + size > kChunkSize) {
    Chunk* const chunk = new_chunk();
    if (!chunk) return nullptr;
    current_chunk = chunk;
  }
  void* const data = reinterpret_cast<char*>(current_chunk) + current_chunk->used;
  current_chunk->used += size;
  ++current_chunk->num_live;
  return data;
}

void arena_free(void* data) {
  const std::lock_guard<std::mutex> lock(arena_mutex);
  const auto address = reinterpret_cast<uintptr_t>(data);
  auto* const chunk = reinterpret_cast<Chunk*>(address / kChunkSize * kChunkSize);
  if (--chunk->num_live > 0) return;
  if (chunk == current_chunk) current_chunk = nullptr;
  free_chunk(chunk);
}

// lint: allow caller (for tests)
size_t arena_chunk_count() {
  const std::lock_guard<std::mutex> lock(arena_mutex);
  return num_chunks;
}

void prefer_huge_pages([[maybe_unused]] void* begin, [[maybe_unused]] size_t bytes) {
#if defined(MADV_HUGEPAGE)
  static const bool is_enabled = feature_enabled(SystemFeature::kHugePages);
  if (!is_enabled) return;
  // madvise() is only advice, so errors are ignored.
  madvise(begin, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
}

}  // namespace runhooks
