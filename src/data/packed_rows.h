// What lives here: PackedRows, columns of numbers of which all rows are kept, each in one piece.
// Who may use it: data.
// What it must not know: whose the columns are, R.
#pragma once

#include <memory>
#include <vector>

#include "data/column_views.h"

namespace runhooks {

// A row of many columns is as many lines of memory where each column lies by itself, and a few
// here: rows of any order are found soon.
class PackedRows {
 public:
  explicit PackedRows(const AllRowsInPlace& all);
  // Bytes that the rows of `all` take here.
  static size_t num_bytes(const AllRowsInPlace& all);
  // Rows `order[0]` to `order[n - 1]`: those of the i-th of all go to `to[i]`, as a tensor has
  // them.
  void gather(const int64_t* order, int64_t n, char* const* to) const;

 private:
  struct Part {
    size_t begin, bytes;  // in a row
  };
  // Of a row, each where its numbers may stand.
  static std::vector<Part> parts_of(const AllRowsInPlace& all);
  static size_t row_bytes(const std::vector<Part>& parts);
  // Parts that follow each other, or one; of `bytes` each.
  struct Run {
    size_t first, count, bytes;
  };
  static std::vector<Run> runs_of(const std::vector<Part>& parts);
  void gather_run(
      const Run& run, const char* const* rows, int64_t n, int64_t at, char* const* to) const;

  std::vector<Part> parts_;
  std::vector<Run> runs_;
  size_t row_bytes_;
  Tensor rows_;
};

}  // namespace runhooks
