#include "data/row_gather.h"

#include <algorithm>

#include "base/interruptible_chunks.h"
#include "base/parallel_for.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

constexpr size_t kCacheLine = 64;
constexpr size_t kColumnChunkBytes = 8192;
// Minimum number of cache lines for several threads. Reading fewer is faster than starting threads.
constexpr int64_t kMinParallelLines = 2048;

}  // namespace

void RowGather::add(const void* from, void* to, size_t bytes) {
  if (bytes == 0) return;
  columns_.push_back({static_cast<const char*>(from), static_cast<char*>(to), bytes});
  row_bytes_ += bytes;
  row_lines_ += static_cast<int64_t>((bytes + kCacheLine - 1) / kCacheLine);
}

void RowGather::clear() {
  columns_.clear();
  row_bytes_ = 0;
  row_lines_ = 0;
}

void RowGather::gather(const int64_t* numbers, int64_t n) {
  const bool uses_threads = n * row_lines_ >= kMinParallelLines && kernel_threads() > 1;
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t first, int64_t last) {
    if (!uses_threads) {
      for (const Column& column : columns_) copy_column_chunk({&column, first, last}, numbers);
      return;
    }
    split_into_chunks(first, last);
    parallel_for(static_cast<int64_t>(chunks_.size()),
                 [&](int64_t i) { copy_column_chunk(chunks_[static_cast<size_t>(i)], numbers); });
  });
}

void RowGather::split_into_chunks(int64_t first, int64_t last) {
  chunks_.clear();
  for (const Column& column : columns_) {
    const auto rows = static_cast<int64_t>(std::max<size_t>(1, kColumnChunkBytes / column.bytes));
    for (int64_t at = first; at < last; at += rows) {
      chunks_.push_back({&column, at, std::min(last, at + rows)});
    }
  }
}

void RowGather::copy_column_chunk(const Chunk& chunk, const int64_t* numbers) {
  const int64_t* const chunk_numbers = numbers + chunk.first;
  const size_t bytes = chunk.column->bytes;
  const char* const from = chunk.column->from;
  char* const to = chunk.column->to + static_cast<size_t>(chunk.first) * bytes;
  copy_rows(
      static_cast<size_t>(chunk.last - chunk.first), bytes,
      [=](size_t i) { return from + static_cast<size_t>(chunk_numbers[i]) * bytes; },
      [=](size_t i) { return to + i * bytes; });
}

}  // namespace runhooks
