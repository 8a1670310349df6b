// What lives here: PackedRowCache, the rows that wait in a shuffle side by side: one to three lines of memory in place of one a column.
// Who may use it: data.
// What it must not know: which row is drawn, iterators.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// Rows come in the order of the data, which memory gives quickly, and go in any. A place may be
// taken by a later row before the first one is asked for: it is then read where it lies for good.
class PackedRowCache {
 public:
  struct Column {
    const char* from;
    size_t bytes;  // of a row
    DType dtype;
    Shape row_shape;
  };
  // For as many rows as wait, a few times; NULL where that is of no use: of data that a cache
  // holds, of so many that wait that none would hold these.
  static std::shared_ptr<PackedRowCache> make(std::vector<Column> columns,
                                        int64_t num_rows,
                                        int64_t waiting);

  void take(const int64_t* numbers, int64_t n);
  // As that of the table.
  void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const;

 private:
  PackedRowCache(std::vector<Column> columns, int64_t num_rows, int64_t places);
  size_t place(int64_t number) const { return static_cast<size_t>(number) & (numbers_.size() - 1); }
  template <typename Run>
  void for_each_tile(int64_t rows, bool may_share, const Run& run) const;
  // `is_run`: all that come are one after the other.
  void take_block(const int64_t* numbers, size_t n, bool is_run);
  void put_block(const int64_t* numbers, size_t n, const std::vector<char*>& to, size_t at) const;

  int64_t num_rows_;
  std::vector<Column> columns_;
  size_t row_bytes_ = 0;
  std::vector<int64_t> numbers_;  // of the row at each place
  Tensor rows_;
};

}  // namespace runhooks
