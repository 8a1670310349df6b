#include "data/packed_row_cache.h"

#include <algorithm>

#include "base/interruptible_chunks.h"
#include "base/parallel_for.h"
#include "data/one_input_dataset.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

// Smaller data stay in the CPU cache without packing. Larger buffers would not fit into it.
constexpr size_t kMinSourceBytes = size_t{24} << 20, kMaxCacheBytes = size_t{6} << 20;
// Number of slots per buffered row. The time that a row stays in a shuffle buffer has a geometric
// distribution, so only one row in twenty stays longer than three times the mean.
constexpr int64_t kMaxWaitFactor = 3;
// Rows per block, so that a block stays in the L1 cache while columns are copied.
constexpr int64_t kBlock = 64;
// Prefetch distance, in rows.
constexpr int64_t kPrefetchDistance = 512;
constexpr size_t kPrefetchBytes = 64;  // one cache line
// Minimum number of values, which is rows times columns, for several threads.
constexpr int64_t kMinParallelValues = 4096;

}  // namespace

std::shared_ptr<PackedRowCache> PackedRowCache::make(std::vector<Column> columns,
                                                     int64_t num_rows,
                                                     int64_t buffer_size) {
  size_t bytes = 0;
  for (const Column& column : columns) bytes += column.bytes;
  if (columns.size() < 2 || bytes == 0) return nullptr;
  if (static_cast<size_t>(num_rows) < kMinSourceBytes / bytes) return nullptr;
  const auto max_slots = static_cast<int64_t>(kMaxCacheBytes / bytes);
  int64_t num_slots = kBlock;
  while (num_slots <= max_slots && num_slots / kMaxWaitFactor < buffer_size) num_slots *= 2;
  if (num_slots > max_slots) return nullptr;
  return std::shared_ptr<PackedRowCache>(
      new PackedRowCache(std::move(columns), num_rows, num_slots));
}

PackedRowCache::PackedRowCache(std::vector<Column> columns, int64_t num_rows, int64_t num_slots)
    : num_rows_(num_rows),
      columns_(std::move(columns)),
      numbers_(static_cast<size_t>(num_slots), -1) {
  for (const Column& column : columns_) row_bytes_ += column.bytes;
  rows_ = Tensor(DType::kUint8, Shape{num_slots, static_cast<int64_t>(row_bytes_)});
}

// Calls run(block) for each block of rows, on several threads if `may_use_threads`.
template <typename Run>
void PackedRowCache::for_each_block(int64_t rows, bool may_use_threads, const Run& run) const {
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  if (may_use_threads && rows * static_cast<int64_t>(columns_.size()) >= kMinParallelValues) {
    parallel_for(blocks, run);
  } else {
    for (int64_t block = 0; block < blocks; ++block) run(block);
  }
}

void PackedRowCache::insert(const int64_t* numbers, int64_t n) {
  // Threads must not write the same slot. Consecutive rows have distinct slots.
  bool is_consecutive = n <= static_cast<int64_t>(numbers_.size());
  for (int64_t i = 1; i < n; ++i) is_consecutive &= numbers[i] == numbers[i - 1] + 1;
  for_each_block(n, is_consecutive, [=](int64_t block) {
    const int64_t at = block * kBlock;
    insert_block(numbers + at, static_cast<size_t>(std::min(kBlock, n - at)), is_consecutive);
  });
}

void PackedRowCache::insert_block(const int64_t* numbers, size_t n, bool is_consecutive) {
  size_t offsets[kBlock];  // of the slots, in bytes
  char* to = static_cast<char*>(rows_.raw());
  for (size_t i = 0; i < n; ++i) offsets[i] = slot_of(numbers[i]) * row_bytes_;
  const int64_t prefetch_row = numbers[0] + kPrefetchDistance;
  const bool can_prefetch = is_consecutive && prefetch_row + kBlock <= num_rows_;
  for (const Column& column : columns_) {
    if (can_prefetch) {
      const char* const next = column.from + static_cast<size_t>(prefetch_row) * column.bytes;
      for (size_t at = 0; at < n * column.bytes; at += kPrefetchBytes)
        __builtin_prefetch(next + at);
    }
    // Copies members into local variables. Otherwise the compiler would reload them after each
    // store, because the stored bytes may overlap them.
    const char* const from = column.from;
    const size_t bytes = column.bytes;
    copy_rows(
        n, bytes, [=](size_t i) { return from + static_cast<size_t>(numbers[i]) * bytes; },
        [=, &offsets](size_t i) { return to + offsets[i]; });
    to += bytes;
  }
  for (size_t i = 0; i < n; ++i) numbers_[slot_of(numbers[i])] = numbers[i];
}

void PackedRowCache::put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const {
  std::vector<char*> to;
  for (size_t k = 0; k < columns_.size(); ++k) {
    const Shape shape = batched_shape(columns_[k].row_shape, n);
    to.push_back(
        static_cast<char*>(sink.allocate(static_cast<int>(k), columns_[k].dtype, shape).raw()));
  }
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t first, int64_t last) {
    const auto put = [&](int64_t block) {
      const int64_t at = first + block * kBlock;
      emit_block(numbers + at, static_cast<size_t>(std::min(kBlock, last - at)), to,
                 static_cast<size_t>(at));
    };
    for_each_block(last - first, true, put);
  });
}

void PackedRowCache::emit_block(const int64_t* numbers,
                                size_t n,
                                const std::vector<char*>& to,
                                size_t at) const {
  const char* cached_rows[kBlock];
  size_t missing[kBlock], num_missing = 0;
  const char* const rows = static_cast<const char*>(rows_.raw());
  for (size_t i = 0; i < n; ++i) {
    const size_t slot = slot_of(numbers[i]);
    cached_rows[i] = rows + slot * row_bytes_;
    __builtin_prefetch(cached_rows[i]);
    __builtin_prefetch(cached_rows[i] + row_bytes_ - 1);
    if (numbers_[slot] == numbers[i]) continue;
    missing[num_missing++] = i;
    // Prefetches missing rows, so that they arrive while cached rows are copied.
    for (const Column& column : columns_) {
      __builtin_prefetch(column.from + static_cast<size_t>(numbers[i]) * column.bytes);
    }
  }
  size_t offset = 0;
  for (size_t k = 0; k < columns_.size(); ++k) {
    const size_t bytes = columns_[k].bytes;
    char* const out = to[k] + at * bytes;
    copy_rows(
        n, bytes, [=, &cached_rows](size_t i) { return cached_rows[i] + offset; },
        [=](size_t i) { return out + i * bytes; });
    offset += bytes;
  }
  for (size_t k = 0; num_missing > 0 && k < columns_.size(); ++k) {
    const char* const from = columns_[k].from;
    const size_t bytes = columns_[k].bytes;
    char* const out = to[k] + at * bytes;
    copy_rows(
        num_missing, bytes,
        [=, &missing](size_t i) { return from + static_cast<size_t>(numbers[missing[i]]) * bytes; },
        [=, &missing](size_t i) { return out + missing[i] * bytes; });
  }
}

}  // namespace runhooks
