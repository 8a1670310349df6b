// ShuffledRowPrefetcher: gathers the next rows of a shuffled order ahead of use.
#pragma once

#include <memory>
#include <vector>

#include "data/column_views.h"
#include "data/packed_rows.h"

namespace runhooks {

// In column layout a row touches one cache line per column and uses an eighth of it. Gathering
// many rows at once scans each column from start to end instead. Rows are stored by batch, so a
// batch is contiguous. If all rows fit the budget, they are packed once for all orders.
class ShuffledRowPrefetcher {
 public:
  // With fewer columns, prefetching does not pay.
  static constexpr size_t kManyColumns = 32;
  // Call when the order changes.
  void clear() { begin_ = end_ = 0; }
  // Writes rows `order[position]` to `order[position + n - 1]` of the i-th of `all` to `to[i]`, in
  // the layout of a tensor. `all` must be the same in every call.
  void take(const AllRowsInPlace& all,
            const std::vector<int64_t>& order,
            int64_t position,
            int64_t n,
            char* const* to);

 private:
  // A prefetched column and its offset within a block.
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
  std::vector<size_t> first_columns_;  // index of the first column of each of `all`, and the end
  int64_t block_ = 0;  // rows per block: one or more batches
  size_t block_bytes_ = 0;
  Tensor made_;  // prefetched blocks
  int64_t lead_ = 0;  // rows missing from the first block, so that batches end at block ends
  int64_t begin_ = 0, end_ = 0, wanted_ = 0;
  std::unique_ptr<const PackedRows> packed_rows_;  // all rows packed
};

}  // namespace runhooks
