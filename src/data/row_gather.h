// RowGather: copies rows of columns by row number, on several threads if there are many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runhooks {

class RowGather {
 public:
  // Adds a column with rows of `bytes` bytes. Its copied rows are written to `to`, one after
  // another.
  void add(const void* from, void* to, size_t bytes);
  // Copies the rows with these numbers in all columns.
  void gather(const int64_t* numbers, int64_t n);
  // Removes the columns, but keeps allocated memory.
  void clear();

 private:
  struct Column {
    const char* from;
    char* to;
    size_t bytes;
  };
  // Rows of one column that one thread copies.
  struct Chunk {
    const Column* column;
    int64_t first, last;
  };
  static void copy_column_chunk(const Chunk& chunk, const int64_t* numbers);
  void split_into_chunks(int64_t first, int64_t last);

  std::vector<Column> columns_;
  std::vector<Chunk> chunks_;
  size_t row_bytes_ = 0;
  int64_t row_lines_ = 0;  // cache lines read per row
};

}  // namespace runhooks
