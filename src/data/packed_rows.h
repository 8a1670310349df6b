// PackedRows: rows of numeric columns in row-major layout, for access in random order.
#pragma once

#include <memory>
#include <vector>

#include "data/column_views.h"

namespace runhooks {

// Reading one row of many separate columns touches one cache line per column; reading a packed row
// touches few.
class PackedRows {
 public:
  // Creates `slots` slots for rows of these columns.
  PackedRows(ColumnViewsList columns, int64_t slots);
  // Returns the size of a packed row of `columns`, in bytes.
  static size_t row_bytes(const ColumnViewsList& columns) { return row_bytes(fields_of(columns)); }
  int64_t num_slots() const { return rows_.shape().dim(0); }
  // Copies rows of the columns to slots.
  void fill(const std::vector<ColumnViews::RowSlot>& row_slots);
  // Writes the rows in slots `slots[0]` to `slots[n - 1]`, or in `n` slots from `first` on if
  // `slots` is NULL. The i-th column goes to `to[i]`, in the layout of a tensor.
  void gather(const int64_t* slots, int64_t first, int64_t n, char* const* to) const;

 private:
  // The bytes of one item of `columns_` within a packed row.
  struct Field {
    size_t begin, bytes;
  };
  // The layout of a row. Each field is aligned for its type.
  static std::vector<Field> fields_of(const ColumnViewsList& columns);
  static size_t row_bytes(const std::vector<Field>& fields);
  // Adjacent fields of equal size, which are copied together; `bytes` is the size of each.
  struct Run {
    size_t first, count, bytes;
  };
  static std::vector<Run> group_fields(const std::vector<Field>& fields);
  void gather_run(
      const Run& run, const char* const* rows, int64_t n, int64_t at, char* const* to) const;

  ColumnViewsList columns_;
  std::vector<Field> fields_;
  std::vector<Run> runs_;
  size_t row_bytes_;
  Tensor rows_;
};

// Reads rows in a shuffled order: packs the next rows before they are needed, or all rows once if
// they fit the budget.
class ShuffledRows {
 public:
  // Must be called when the order changes.
  void clear() { begin_ = end_ = 0; }
  // Writes rows `order[position]` to `order[position + n - 1]` of the i-th of `columns` to `to[i]`,
  // in the layout of a tensor. `columns` must be the same in every call.
  void read(const ColumnViewsList& columns,
            const std::vector<int64_t>& order,
            int64_t position,
            int64_t n,
            char* const* to);

 private:
  void pack(const ColumnViewsList& columns,
            const std::vector<int64_t>& order,
            int64_t position,
            int64_t n);

  std::unique_ptr<PackedRows> packed_;
  bool has_all_rows_ = false;
  int64_t begin_ = 0, end_ = 0;  // positions of the packed rows in the order
  int64_t num_rows_ahead_ = 0;   // number of rows that the last packing step has packed
};

}  // namespace runhooks
