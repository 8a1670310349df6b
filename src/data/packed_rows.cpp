#include "data/packed_rows.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/parallel_for.h"
#include "base/interruptible_chunks.h"
#include "kernels/kernels.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

// Rows per block, so that a block stays in the L1 cache while it is transposed.
constexpr int64_t kRowsAtHand = 16;
// Minimum work per thread, in bytes.
constexpr size_t kTileBytes = size_t{1} << 17;
constexpr size_t kAlignment = 8;
// Long rows start at a cache line. The number of lines per row is odd; otherwise rows would
// compete for a few cache sets.
constexpr size_t kLineOfRow = 64, kLongRow = 8 * kLineOfRow;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

std::vector<PackedRows::Part> PackedRows::parts_of(const AllRowsInPlace& all) {
  std::vector<Part> parts;
  size_t begin = 0;
  for (const auto& rows : all) {
    begin = rounded_up(begin, dtype_size(rows->dtype()));
    parts.push_back({begin, rows->row_bytes()});
    begin += rows->row_bytes();
  }
  return parts;
}

size_t PackedRows::row_bytes(const std::vector<Part>& parts) {
  const size_t end = parts.empty() ? 0 : parts.back().begin + parts.back().bytes;
  if (end < kLongRow) return rounded_up(end, kAlignment);
  return rounded_up(end + kLineOfRow, 2 * kLineOfRow) - kLineOfRow;
}

std::vector<PackedRows::Run> PackedRows::runs_of(const std::vector<Part>& parts) {
  std::vector<Run> runs;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t bytes = parts[i].bytes;
    const bool is_number = bytes == sizeof(float) || bytes == sizeof(double);
    const bool follows = !runs.empty() && is_number && runs.back().bytes == bytes &&
                         parts[i - 1].begin + bytes == parts[i].begin;
    if (follows) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1, bytes});
    }
  }
  return runs;
}

size_t PackedRows::num_bytes(const AllRowsInPlace& all) {
  return all.empty() ? 0 : static_cast<size_t>(all[0]->rows()) * row_bytes(parts_of(all));
}

PackedRows::PackedRows(const AllRowsInPlace& all)
    : parts_(parts_of(all)), runs_(runs_of(parts_)), row_bytes_(row_bytes(parts_)) {
  rows_ = Tensor(DType::kUint8, Shape{all[0]->rows(), static_cast<int64_t>(row_bytes_)});
  InterruptPoll poll;
  for (size_t i = 0; i < all.size(); ++i) {
    poll();
    all[i]->read(0, all[i]->rows(), static_cast<char*>(rows_.raw()) + parts_[i].begin, row_bytes_);
  }
}

void PackedRows::gather(const int64_t* order, int64_t n, char* const* to) const {
  const auto gather_part = [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at += kRowsAtHand) {
      const char* rows[kRowsAtHand];
      const int64_t count = std::min(kRowsAtHand, last - at);
      for (int64_t i = 0; i < count; ++i) {
        const auto row = static_cast<size_t>(order[at + i]);
        rows[i] = static_cast<const char*>(rows_.raw()) + row * row_bytes_;
      }
      for (const Run& run : runs_) gather_run(run, rows, count, at, to);
    }
  };
  const auto blocks = static_cast<int64_t>(kTileBytes / (row_bytes_ + 1)) / kRowsAtHand;
  const int64_t rows = kRowsAtHand * std::max<int64_t>(1, blocks);
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t first, int64_t last) {
    parallel_for((last - first + rows - 1) / rows, [&](int64_t i) {
      const int64_t at = first + i * rows;
      gather_part(at, std::min(last, at + rows));
    });
  });
}

void PackedRows::gather_run(
    const Run& run, const char* const* rows, int64_t n, int64_t at, char* const* to) const {
  const size_t begin = parts_[run.first].begin;
  const bool is_float = run.bytes == sizeof(float);
  if (is_float || run.bytes == sizeof(double)) {
    const char* from[kRowsAtHand];
    for (int64_t i = 0; i < n; ++i) from[i] = rows[i] + begin;
    const RowKernels& turned = *kernels().rows;
    return (is_float ? turned.turn4 : turned.turn8)(n, static_cast<int64_t>(run.count), from,
                                                    to + run.first, at);
  }
  char* const out = to[run.first] + static_cast<size_t>(at) * run.bytes;
  copy_rows(
      static_cast<size_t>(n), run.bytes, [&](size_t i) { return rows[i] + begin; },
      [&](size_t i) { return out + i * run.bytes; });
}

}  // namespace runhooks
