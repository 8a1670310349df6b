// PackedRows: rows of numeric columns in row-major layout, for access in random order.
#pragma once

#include <memory>
#include <vector>

#include "data/column_views.h"

namespace runhooks {

// In column layout a row of many columns touches one cache line per column. Packed rows touch few.
class PackedRows {
 public:
  // Has `slots` slots for rows of these columns.
  PackedRows(ColumnViewsList all, int64_t slots);
  // The size of a packed row of `all`, in bytes.
  static size_t row_bytes(const ColumnViewsList& all) { return row_bytes(parts_of(all)); }
  int64_t num_slots() const { return rows_.shape().dim(0); }
  // Copies rows of the columns to slots.
  void fill(const std::vector<ColumnViews::RowSlot>& places);
  // Writes the rows in slots `slots[0]` to `slots[n - 1]`, or in `n` slots from `first` on if
  // `slots` is NULL. The i-th column goes to `to[i]`, in the layout of a tensor.
  void gather(const int64_t* slots, int64_t first, int64_t n, char* const* to) const;

 private:
  struct Part {
    size_t begin, bytes;  // within a row
  };
  // The layout of a row, with aligned parts.
  static std::vector<Part> parts_of(const ColumnViewsList& all);
  static size_t row_bytes(const std::vector<Part>& parts);
  // One part, or adjacent parts of equal size; `bytes` is the size of each.
  struct Run {
    size_t first, count, bytes;
  };
  static std::vector<Run> runs_of(const std::vector<Part>& parts);
  void gather_run(
      const Run& run, const char* const* rows, int64_t n, int64_t at, char* const* to) const;

  ColumnViewsList all_;
  std::vector<Part> parts_;
  std::vector<Run> runs_;
  size_t row_bytes_;
  Tensor rows_;
};

// Reads rows in a shuffled order: packs the next rows before they are needed, or all rows once if
// they fit the budget.
class ShuffledRows {
 public:
  // Call when the order changes.
  void clear() { begin_ = end_ = 0; }
  // Writes rows `order[position]` to `order[position + n - 1]` of the i-th of `all` to `to[i]`, in
  // the layout of a tensor. `all` must be the same in every call.
  void take(const ColumnViewsList& all,
            const std::vector<int64_t>& order,
            int64_t position,
            int64_t n,
            char* const* to);

 private:
  void pack(const ColumnViewsList& all,
            const std::vector<int64_t>& order,
            int64_t position,
            int64_t n);

  std::unique_ptr<PackedRows> packed_;
  bool has_all_ = false;
  int64_t begin_ = 0, end_ = 0, wanted_ = 0;  // positions of the packed rows
};

}  // namespace runhooks
