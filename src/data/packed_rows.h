// PackedRows: a row-major copy of numeric columns.
#pragma once

#include <memory>
#include <vector>

#include "data/column_views.h"

namespace runhooks {

// In column layout a row of many columns touches one cache line per column. Packed rows touch few,
// so random access is fast.
class PackedRows {
 public:
  explicit PackedRows(const AllRowsInPlace& all);
  // The size of the packed copy of `all`, in bytes.
  static size_t num_bytes(const AllRowsInPlace& all);
  // Writes rows `order[0]` to `order[n - 1]` of the i-th of all to `to[i]`, in the layout of a
  // tensor.
  void gather(const int64_t* order, int64_t n, char* const* to) const;

 private:
  struct Part {
    size_t begin, bytes;  // within a row
  };
  // The layout of a row, with aligned parts.
  static std::vector<Part> parts_of(const AllRowsInPlace& all);
  static size_t row_bytes(const std::vector<Part>& parts);
  // One part, or adjacent parts of equal size; `bytes` is the size of each.
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
