// PackedRowCache: packs buffered rows of a shuffle, so that reading one costs one to three cache
// lines instead of one per column.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// Rows enter in data order (sequential reads) and leave in random order. A row whose slot was
// overwritten is read from the table.
class PackedRowCache {
 public:
  struct Column {
    const char* from;
    size_t bytes;  // per row
    DType dtype;
    Shape row_shape;
  };
  // Sizes the cache to a few times the number of buffered rows. NULL if it would not help: the
  // data fit the CPU cache, or the buffered rows would not.
  static std::shared_ptr<PackedRowCache> make(std::vector<Column> columns,
                                        int64_t num_rows,
                                        int64_t waiting);

  void take(const int64_t* numbers, int64_t n);
  // The same as RowTable::put_stacked().
  void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const;

 private:
  PackedRowCache(std::vector<Column> columns, int64_t num_rows, int64_t places);
  size_t place(int64_t number) const { return static_cast<size_t>(number) & (numbers_.size() - 1); }
  template <typename Run>
  void for_each_tile(int64_t rows, bool may_share, const Run& run) const;
  // `is_run`: the row numbers are consecutive.
  void take_block(const int64_t* numbers, size_t n, bool is_run);
  void put_block(const int64_t* numbers, size_t n, const std::vector<char*>& to, size_t at) const;

  int64_t num_rows_;
  std::vector<Column> columns_;
  size_t row_bytes_ = 0;
  std::vector<int64_t> numbers_;  // row number in each slot
  Tensor rows_;
};

}  // namespace runhooks
