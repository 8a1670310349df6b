#include "data/packed_rows.h"

#include <algorithm>
#include <numeric>

#include "base/interruptible_chunks.h"
#include "base/parallel_for.h"
#include "kernels/kernels.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

// Rows per block, so that a block stays in the L1 cache while it is transposed.
constexpr int64_t kGatheredRows = 16;
// Bytes per block, so that a block stays in the L2 cache while it is filled.
constexpr size_t kFilledBytes = size_t{1} << 19;
// Minimum work per thread, in bytes.
constexpr size_t kMinThreadBytes = size_t{1} << 17;
constexpr size_t kAlignment = 8;
// Long rows start at a cache line. The number of lines per row is odd; otherwise rows would
// compete for a few cache sets.
constexpr size_t kLine = 64, kLongRow = 8 * kLine;
// The first number of rows to pack; it grows, because short trainings need few.
constexpr int64_t kFirstRows = 1024;
// Share of the data's size used for packed rows, and its minimum in bytes.
constexpr size_t kBudgetShare = 8, kMinBudget = size_t{16} << 20;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Slot i for row `rows[i]`, in the order of the data, so that columns are read from start to end.
std::vector<ColumnViews::RowSlot> in_data_order(const int64_t* rows, int64_t n, int64_t num_rows) {
  constexpr int64_t kMaxScan = 64;  // rows per place
  std::vector<ColumnViews::RowSlot> places;
  places.reserve(static_cast<size_t>(n));
  if (num_rows / kMaxScan > n) {
    for (int64_t i = 0; i < n; ++i) places.push_back({rows[i], i});
    std::sort(places.begin(), places.end(),
              [](const auto& a, const auto& b) { return a.row < b.row; });
    return places;
  }
  std::vector<int32_t> slots(static_cast<size_t>(num_rows), -1);
  for (int64_t i = 0; i < n; ++i) slots[static_cast<size_t>(rows[i])] = static_cast<int32_t>(i);
  for (size_t row = 0; row < slots.size(); ++row) {
    if (slots[row] >= 0) places.push_back({static_cast<int64_t>(row), slots[row]});
  }
  return places;
}

}  // namespace

std::vector<PackedRows::Part> PackedRows::parts_of(const ColumnViewsList& all) {
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
  return rounded_up(end + kLine, 2 * kLine) - kLine;
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

PackedRows::PackedRows(ColumnViewsList all, int64_t slots)
    : all_(std::move(all)),
      parts_(parts_of(all_)),
      runs_(runs_of(parts_)),
      row_bytes_(row_bytes(parts_)) {
  rows_ = Tensor(DType::kUint8, Shape{slots, static_cast<int64_t>(row_bytes_)});
}

void PackedRows::fill(const std::vector<ColumnViews::RowSlot>& places) {
  const auto n = static_cast<int64_t>(places.size());
  char* const to = static_cast<char*>(rows_.raw());
  const auto rows = static_cast<int64_t>(kFilledBytes / (row_bytes_ + 1) + 1);
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t first, int64_t last) {
    parallel_for((last - first + rows - 1) / rows, [&](int64_t block) {
      const int64_t at = first + block * rows, count = std::min(rows, last - at);
      for (size_t i = 0; i < all_.size(); ++i) {
        all_[i]->scatter(places.data() + at, count, to + parts_[i].begin, row_bytes_);
      }
    });
  });
}

void PackedRows::gather(const int64_t* slots, int64_t first, int64_t n, char* const* to) const {
  const auto row_at = [&](int64_t i) {
    const auto slot = static_cast<size_t>(slots ? slots[i] : first + i);
    return static_cast<const char*>(rows_.raw()) + slot * row_bytes_;
  };
  const auto gather_part = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kGatheredRows) {
      const char* rows[kGatheredRows];
      const int64_t count = std::min(kGatheredRows, end - at);
      for (int64_t i = 0; i < count; ++i) rows[i] = row_at(at + i);
      const int64_t next = at + kGatheredRows, next_end = std::min(next + kGatheredRows, end);
      for (int64_t i = next; slots && i < next_end; ++i) {
        for (size_t k = 0; k < row_bytes_; k += kLine) __builtin_prefetch(row_at(i) + k);
      }
      for (const Run& run : runs_) gather_run(run, rows, count, at, to);
    }
  };
  const auto blocks = static_cast<int64_t>(kMinThreadBytes / (row_bytes_ + 1)) / kGatheredRows;
  const int64_t rows = kGatheredRows * std::max<int64_t>(1, blocks);
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t begin, int64_t end) {
    parallel_for((end - begin + rows - 1) / rows, [&](int64_t i) {
      const int64_t at = begin + i * rows;
      gather_part(at, std::min(end, at + rows));
    });
  });
}

void PackedRows::gather_run(
    const Run& run, const char* const* rows, int64_t n, int64_t at, char* const* to) const {
  const size_t begin = parts_[run.first].begin;
  const bool is_float = run.bytes == sizeof(float);
  if (is_float || run.bytes == sizeof(double)) {
    const char* from[kGatheredRows];
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

void ShuffledRows::take(const ColumnViewsList& all,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n,
                        char* const* to) {
  const bool is_packed = has_all_ || (position >= begin_ && position + n <= end_);
  if (!is_packed) pack(all, order, position, n);
  packed_->gather(has_all_ ? order.data() + position : nullptr, position - begin_, n, to);
}

void ShuffledRows::pack(const ColumnViewsList& all,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n) {
  clear();
  size_t bytes = 0;
  for (const auto& rows : all) bytes += rows->num_bytes();
  const size_t budget = std::max(kMinBudget, bytes / kBudgetShare);
  const auto most = static_cast<int64_t>(budget / (PackedRows::row_bytes(all) + 1));
  const auto num_rows = static_cast<int64_t>(order.size());
  wanted_ = wanted_ == 0 ? kFirstRows : std::min(2 * wanted_, std::max(kFirstRows, most));
  const bool takes_all = wanted_ >= num_rows && num_rows <= most;
  const int64_t count = takes_all ? num_rows : std::min(num_rows - position, std::max(n, wanted_));
  if (!packed_ || packed_->num_slots() < count) {
    packed_ = nullptr;  // frees the old rows before allocating
    packed_ = std::make_unique<PackedRows>(all, count);
  }
  if (takes_all) {
    std::vector<ColumnViews::RowSlot> places;
    for (int64_t row = 0; row < num_rows; ++row) places.push_back({row, row});
    packed_->fill(places);
    has_all_ = true;
  } else {
    packed_->fill(in_data_order(order.data() + position, count, num_rows));
    begin_ = position;
    end_ = position + count;
  }
}

}  // namespace runhooks
