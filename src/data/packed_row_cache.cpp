#include "data/packed_row_cache.h"

#include <algorithm>

#include "base/interruptible_chunks.h"
#include "base/parallel_for.h"
#include "data/one_input_dataset.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

// Smaller data stay in the CPU cache anyway; a larger buffer would not fit.
constexpr size_t kMinSourceBytes = size_t{24} << 20, kMaxCacheBytes = size_t{6} << 20;
// Waiting times are geometric: one row in twenty waits more than three times the mean.
constexpr int64_t kMaxWaitFactor = 3;
// Rows per block, so that a block stays in the L1 cache while columns are copied.
constexpr int64_t kBlock = 64;
// Prefetch distance, in rows.
constexpr int64_t kPrefetchDistance = 512;
constexpr size_t kPrefetchBytes = 64;  // one cache line
// Minimum number of rows for several threads.
constexpr int64_t kSharedNumbers = 4096;

}  // namespace

std::shared_ptr<PackedRowCache> PackedRowCache::make(std::vector<Column> columns,
                                                     int64_t num_rows,
                                                     int64_t waiting) {
  size_t bytes = 0;
  for (const Column& column : columns) bytes += column.bytes;
  if (columns.size() < 2 || bytes == 0) return nullptr;
  if (static_cast<size_t>(num_rows) < kMinSourceBytes / bytes) return nullptr;
  const auto most = static_cast<int64_t>(kMaxCacheBytes / bytes);
  int64_t places = kBlock;
  while (places <= most && places / kMaxWaitFactor < waiting) places *= 2;
  if (places > most) return nullptr;
  return std::shared_ptr<PackedRowCache>(new PackedRowCache(std::move(columns), num_rows, places));
}

PackedRowCache::PackedRowCache(std::vector<Column> columns, int64_t num_rows, int64_t places)
    : num_rows_(num_rows), columns_(std::move(columns)), numbers_(static_cast<size_t>(places), -1) {
  for (const Column& column : columns_) row_bytes_ += column.bytes;
  rows_ = Tensor(DType::kUint8, Shape{places, static_cast<int64_t>(row_bytes_)});
}

// Calls run(block) for each block of rows.
template <typename Run>
void PackedRowCache::for_each_tile(int64_t rows, bool may_share, const Run& run) const {
  const int64_t blocks = (rows + kBlock - 1) / kBlock;
  if (may_share && rows * static_cast<int64_t>(columns_.size()) >= kSharedNumbers) {
    parallel_for(blocks, run);
  } else {
    for (int64_t block = 0; block < blocks; ++block) run(block);
  }
}

void PackedRowCache::take(const int64_t* numbers, int64_t n) {
  // consecutive rows map to distinct slots
  bool is_run = n <= static_cast<int64_t>(numbers_.size());
  for (int64_t i = 1; i < n; ++i) is_run &= numbers[i] == numbers[i - 1] + 1;
  for_each_tile(n, is_run, [=](int64_t block) {
    const int64_t at = block * kBlock;
    take_block(numbers + at, static_cast<size_t>(std::min(kBlock, n - at)), is_run);
  });
}

void PackedRowCache::take_block(const int64_t* numbers, size_t n, bool is_run) {
  size_t places[kBlock];  // byte offsets
  char* to = static_cast<char*>(rows_.raw());
  for (size_t i = 0; i < n; ++i) places[i] = place(numbers[i]) * row_bytes_;
  const int64_t ahead = numbers[0] + kPrefetchDistance;
  const bool goes_on = is_run && ahead + kBlock <= num_rows_;
  for (const Column& column : columns_) {
    if (goes_on) {
      const char* const next = column.from + static_cast<size_t>(ahead) * column.bytes;
      for (size_t at = 0; at < n * column.bytes; at += kPrefetchBytes)
        __builtin_prefetch(next + at);
    }
    // local copies: the compiler must assume that copied rows alias the members
    const char* const from = column.from;
    const size_t bytes = column.bytes;
    copy_rows(
        n, bytes, [=](size_t i) { return from + static_cast<size_t>(numbers[i]) * bytes; },
        [=, &places](size_t i) { return to + places[i]; });
    to += bytes;
  }
  for (size_t i = 0; i < n; ++i) numbers_[place(numbers[i])] = numbers[i];
}

void PackedRowCache::put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const {
  std::vector<char*> to;
  for (size_t k = 0; k < columns_.size(); ++k) {
    const Shape shape = batched_shapes({columns_[k].row_shape}, n)[0];
    to.push_back(
        static_cast<char*>(sink.allocate(static_cast<int>(k), columns_[k].dtype, shape).raw()));
  }
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t first, int64_t last) {
    const auto put = [&](int64_t block) {
      const int64_t at = first + block * kBlock;
      put_block(numbers + at, static_cast<size_t>(std::min(kBlock, last - at)), to,
                static_cast<size_t>(at));
    };
    for_each_tile(last - first, true, put);
  });
}

void PackedRowCache::put_block(const int64_t* numbers,
                               size_t n,
                               const std::vector<char*>& to,
                               size_t at) const {
  const char* near[kBlock];
  size_t far[kBlock], num_far = 0;
  const char* const rows = static_cast<const char*>(rows_.raw());
  for (size_t i = 0; i < n; ++i) {
    const size_t where = place(numbers[i]);
    near[i] = rows + where * row_bytes_;
    __builtin_prefetch(near[i]);
    __builtin_prefetch(near[i] + row_bytes_ - 1);
    if (numbers_[where] == numbers[i]) continue;
    far[num_far++] = i;
    // prefetches missing rows while cached ones are copied
    for (const Column& column : columns_) {
      __builtin_prefetch(column.from + static_cast<size_t>(numbers[i]) * column.bytes);
    }
  }
  size_t begin = 0;
  for (size_t k = 0; k < columns_.size(); ++k) {
    const size_t bytes = columns_[k].bytes;
    char* const out = to[k] + at * bytes;
    copy_rows(
        n, bytes, [=, &near](size_t i) { return near[i] + begin; },
        [=](size_t i) { return out + i * bytes; });
    begin += bytes;
  }
  for (size_t k = 0; num_far > 0 && k < columns_.size(); ++k) {
    const char* const from = columns_[k].from;
    const size_t bytes = columns_[k].bytes;
    char* const out = to[k] + at * bytes;
    copy_rows(
        num_far, bytes,
        [=, &far](size_t i) { return from + static_cast<size_t>(numbers[far[i]]) * bytes; },
        [=, &far](size_t i) { return out + far[i] * bytes; });
  }
}

}  // namespace runhooks
