// What lives here: RowGather, rows of columns in memory that are copied by their numbers, by several threads where many.
// Who may use it: data.
// What it must not know: datasets, iterators, types of elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace runhooks {

class RowGather {
 public:
  // A column of rows of so many bytes, and where its copies go, one behind the other.
  void add(const void* from, void* to, size_t bytes);
  // Of all columns the rows with these numbers.
  void make(const int64_t* numbers, int64_t n);
  // For other columns; the memory is kept.
  void clear();

 private:
  struct Column {
    const char* from;
    char* to;
    size_t bytes;
  };
  // As one thread takes them: some rows of a column.
  struct Piece {
    const Column* column;
    int64_t first, last;
  };
  static void copy_piece(const Piece& piece, const int64_t* numbers);
  void lay_out(int64_t first, int64_t last);

  std::vector<Column> columns_;
  std::vector<Piece> pieces_;
  size_t row_bytes_ = 0;
  int64_t row_lines_ = 0;  // of memory, that a row is read from
};

}  // namespace runhooks
