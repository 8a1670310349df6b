// What lives here: ShuffledRowPrefetcher, the next rows of a shuffled order.
// Who may use it: data.
// What it must not know: whose the rows are, R.
#pragma once

#include <memory>
#include <vector>

#include "data/column_views.h"
#include "data/packed_rows.h"

namespace runhooks {

// The next rows of a shuffled order, made ahead. One row of many columns is as many lines of
// memory, of which it needs an eighth: many rows at once take each column from its begin to its
// end. They are kept by batches, so that who takes one finds all its columns side by side. Where all
// rows are no more than that, they are kept side by side once for all orders.
class ShuffledRowPrefetcher {
 public:
  // Fewer columns than that are found soon enough.
  static constexpr size_t kManyColumns = 32;
  // The order will be another one.
  void clear() { begin_ = end_ = 0; }
  // Rows `order[position]` to `order[position + n - 1]`: those of the i-th of `all`, which are always
  // the same, go to `to[i]`, as a tensor has them.
  void take(const AllRowsInPlace& all,
            const std::vector<int64_t>& order,
            int64_t position,
            int64_t n,
            char* const* to);

 private:
  // A column of all that is made, and where it begins within a block.
  struct Column {
    const ColumnViews* of;
    int64_t k;
    size_t begin;
  };
  void prepare(const AllRowsInPlace& all,
               const std::vector<int64_t>& order,
               int64_t position,
               int64_t n);
  void read(size_t i, int64_t position, int64_t n, void* to) const;
  void lay_out(const AllRowsInPlace& all, int64_t n);
  void reserve(int64_t rows);
  void fill(const int64_t* order, int64_t n);
  std::vector<ColumnViews::Place> places(const int64_t* order, int64_t n) const;

  std::vector<Column> columns_;
  std::vector<size_t> first_columns_;  // of each of `all`, and the end
  int64_t block_ = 0;                  // rows of a block: a batch, or some
  size_t block_bytes_ = 0;
  Tensor made_;       // blocks
  int64_t lead_ = 0;  // rows that the first block lacks, for a batch to end where a block does
  int64_t begin_ = 0, end_ = 0, wanted_ = 0;
  std::unique_ptr<const PackedRows> side_by_side_;  // all rows
};

}  // namespace runhooks
