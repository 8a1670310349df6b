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
constexpr int64_t kGatherBlockRows = 16;
// Bytes per block, so that a block stays in the L2 cache while it is filled.
constexpr size_t kFillBlockBytes = size_t{1} << 19;
// Minimum work per thread, in bytes.
constexpr size_t kMinThreadBytes = size_t{1} << 17;
constexpr size_t kAlignment = 8;
// Long rows start at a cache line. The number of lines per row is odd. With a power of two, rows
// would compete for a few cache sets.
constexpr size_t kLine = 64, kLongRow = 8 * kLine;
// The number of rows to pack at first. It doubles with each packing. So a short training, which
// needs few rows, packs few.
constexpr int64_t kInitialRowsAhead = 1024;
// Packed rows may use the size of the data divided by this number, or the minimum in bytes.
constexpr size_t kBudgetDivisor = 8, kMinBudget = size_t{16} << 20;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Assigns slot i to row `rows[i]`. The result is in the order of the data, so that columns are read
// from start to end.
std::vector<ColumnViews::RowSlot> slots_in_data_order(const int64_t* rows,
                                                      int64_t n,
                                                      int64_t num_rows) {
  // If fewer than one in this many rows is needed, sorting the needed rows is faster than scanning
  // all rows.
  constexpr int64_t kMaxScannedPerRow = 64;
  std::vector<ColumnViews::RowSlot> row_slots;
  row_slots.reserve(static_cast<size_t>(n));
  if (num_rows / kMaxScannedPerRow > n) {
    for (int64_t i = 0; i < n; ++i) row_slots.push_back({rows[i], i});
    std::sort(row_slots.begin(), row_slots.end(),
              [](const auto& a, const auto& b) { return a.row < b.row; });
    return row_slots;
  }
  std::vector<int32_t> slots(static_cast<size_t>(num_rows), -1);
  for (int64_t i = 0; i < n; ++i) slots[static_cast<size_t>(rows[i])] = static_cast<int32_t>(i);
  for (size_t row = 0; row < slots.size(); ++row) {
    if (slots[row] >= 0) row_slots.push_back({static_cast<int64_t>(row), slots[row]});
  }
  return row_slots;
}

}  // namespace

std::vector<PackedRows::Field> PackedRows::fields_of(const ColumnViewsList& columns) {
  std::vector<Field> fields;
  size_t begin = 0;
  for (const auto& rows : columns) {
    begin = rounded_up(begin, dtype_size(rows->dtype()));
    fields.push_back({begin, rows->row_bytes()});
    begin += rows->row_bytes();
  }
  return fields;
}

size_t PackedRows::row_bytes(const std::vector<Field>& fields) {
  const size_t end = fields.empty() ? 0 : fields.back().begin + fields.back().bytes;
  if (end < kLongRow) return rounded_up(end, kAlignment);
  return rounded_up(end + kLine, 2 * kLine) - kLine;
}

std::vector<PackedRows::Run> PackedRows::group_fields(const std::vector<Field>& fields) {
  std::vector<Run> runs;
  for (size_t i = 0; i < fields.size(); ++i) {
    const size_t bytes = fields[i].bytes;
    const bool is_number = bytes == sizeof(float) || bytes == sizeof(double);
    const bool continues_run = !runs.empty() && is_number && runs.back().bytes == bytes &&
                               fields[i - 1].begin + bytes == fields[i].begin;
    if (continues_run) {
      ++runs.back().count;
    } else {
      runs.push_back({i, 1, bytes});
    }
  }
  return runs;
}

PackedRows::PackedRows(ColumnViewsList columns, int64_t slots)
    : columns_(std::move(columns)),
      fields_(fields_of(columns_)),
      runs_(group_fields(fields_)),
      row_bytes_(row_bytes(fields_)) {
  rows_ = Tensor(DType::kUint8, Shape{slots, static_cast<int64_t>(row_bytes_)});
}

void PackedRows::fill(const std::vector<ColumnViews::RowSlot>& row_slots) {
  const auto n = static_cast<int64_t>(row_slots.size());
  char* const to = static_cast<char*>(rows_.raw());
  const auto rows = static_cast<int64_t>(kFillBlockBytes / (row_bytes_ + 1) + 1);
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t first, int64_t last) {
    parallel_for((last - first + rows - 1) / rows, [&](int64_t block) {
      const int64_t at = first + block * rows, count = std::min(rows, last - at);
      for (size_t i = 0; i < columns_.size(); ++i) {
        columns_[i]->scatter(row_slots.data() + at, count, to + fields_[i].begin, row_bytes_);
      }
    });
  });
}

void PackedRows::gather(const int64_t* slots, int64_t first, int64_t n, char* const* to) const {
  const auto row_at = [&](int64_t i) {
    const auto slot = static_cast<size_t>(slots ? slots[i] : first + i);
    return static_cast<const char*>(rows_.raw()) + slot * row_bytes_;
  };
  const auto gather_range = [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; at += kGatherBlockRows) {
      const char* rows[kGatherBlockRows];
      const int64_t count = std::min(kGatherBlockRows, end - at);
      for (int64_t i = 0; i < count; ++i) rows[i] = row_at(at + i);
      const int64_t next = at + kGatherBlockRows, next_end = std::min(next + kGatherBlockRows, end);
      for (int64_t i = next; slots && i < next_end; ++i) {
        for (size_t k = 0; k < row_bytes_; k += kLine) __builtin_prefetch(row_at(i) + k);
      }
      for (const Run& run : runs_) gather_run(run, rows, count, at, to);
    }
  };
  const auto blocks = static_cast<int64_t>(kMinThreadBytes / (row_bytes_ + 1)) / kGatherBlockRows;
  const int64_t rows = kGatherBlockRows * std::max<int64_t>(1, blocks);
  for_each_interruptible_chunk(n, row_bytes_, [&](int64_t begin, int64_t end) {
    parallel_for((end - begin + rows - 1) / rows, [&](int64_t i) {
      const int64_t at = begin + i * rows;
      gather_range(at, std::min(end, at + rows));
    });
  });
}

void PackedRows::gather_run(
    const Run& run, const char* const* rows, int64_t n, int64_t at, char* const* to) const {
  const size_t begin = fields_[run.first].begin;
  const bool is_float = run.bytes == sizeof(float);
  if (is_float || run.bytes == sizeof(double)) {
    const char* from[kGatherBlockRows];
    for (int64_t i = 0; i < n; ++i) from[i] = rows[i] + begin;
    const RowKernels& row_kernels = *kernels().rows;
    return (is_float ? row_kernels.transpose4 : row_kernels.transpose8)(n, static_cast<int64_t>(run.count),
                                                              from, to + run.first, at);
  }
  char* const out = to[run.first] + static_cast<size_t>(at) * run.bytes;
  copy_rows(
      static_cast<size_t>(n), run.bytes, [&](size_t i) { return rows[i] + begin; },
      [&](size_t i) { return out + i * run.bytes; });
}

void ShuffledRows::read(const ColumnViewsList& columns,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n,
                        char* const* to) {
  const bool is_packed = has_all_rows_ || (position >= begin_ && position + n <= end_);
  if (!is_packed) pack(columns, order, position, n);
  packed_->gather(has_all_rows_ ? order.data() + position : nullptr, position - begin_, n, to);
}

void ShuffledRows::pack(const ColumnViewsList& columns,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n) {
  clear();
  size_t bytes = 0;
  for (const auto& rows : columns) bytes += rows->num_bytes();
  const size_t budget = std::max(kMinBudget, bytes / kBudgetDivisor);
  const auto max_rows = static_cast<int64_t>(budget / (PackedRows::row_bytes(columns) + 1));
  const auto num_rows = static_cast<int64_t>(order.size());
  num_rows_ahead_ = num_rows_ahead_ == 0
                        ? kInitialRowsAhead
                        : std::min(2 * num_rows_ahead_, std::max(kInitialRowsAhead, max_rows));
  const bool packs_all = num_rows_ahead_ >= num_rows && num_rows <= max_rows;
  const int64_t count =
      packs_all ? num_rows : std::min(num_rows - position, std::max(n, num_rows_ahead_));
  if (!packed_ || packed_->num_slots() < count) {
    packed_ = nullptr;  // frees the old rows before new ones are allocated
    packed_ = std::make_unique<PackedRows>(columns, count);
  }
  if (packs_all) {
    std::vector<ColumnViews::RowSlot> row_slots;
    for (int64_t row = 0; row < num_rows; ++row) row_slots.push_back({row, row});
    packed_->fill(row_slots);
    has_all_rows_ = true;
  } else {
    packed_->fill(slots_in_data_order(order.data() + position, count, num_rows));
    begin_ = position;
    end_ = position + count;
  }
}

}  // namespace runhooks
