// PackedRowCache: stores the columns of a buffered row next to each other, so that reading a row of
// a shuffle touches one to three cache lines instead of one per column.
#pragma once

#include <memory>
#include <vector>

#include "data/dataset.h"

namespace runhooks {

// A direct-mapped cache of rows of a RowTable. Rows are inserted in the order of the data, with
// sequential reads, and emitted in random order. A row whose slot was overwritten is read from its
// columns.
class PackedRowCache {
 public:
  struct Column {
    const char* from;
    size_t bytes;  // per row
    DType dtype;
    Shape row_shape;
  };
  // Creates a cache with a few slots per buffered row. NULL if a cache would not help, because the
  // data fit into the CPU cache, or the slots would not.
  static std::shared_ptr<PackedRowCache> make(std::vector<Column> columns,
                                              int64_t num_rows,
                                              int64_t buffer_size);

  void insert(const int64_t* numbers, int64_t n);
  // Emits rows like RowTable::put_stacked().
  void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const;

 private:
  PackedRowCache(std::vector<Column> columns, int64_t num_rows, int64_t num_slots);
  size_t slot_of(int64_t number) const {
    return static_cast<size_t>(number) & (numbers_.size() - 1);
  }
  template <typename Run>
  void for_each_block(int64_t rows, bool may_use_threads, const Run& run) const;
  void insert_block(const int64_t* numbers, size_t n, bool is_consecutive);
  void emit_block(const int64_t* numbers, size_t n, const std::vector<char*>& to, size_t at) const;

  int64_t num_rows_;
  std::vector<Column> columns_;
  size_t row_bytes_ = 0;
  std::vector<int64_t> numbers_;  // row number in each slot
  Tensor rows_;
};

}  // namespace runhooks
