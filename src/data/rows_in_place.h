// What lives here: RowsInPlace, columns of numbers that are read where somebody else keeps them, and RowsAhead.
// Who may use it: data, the bindings.
// What it must not know: whose they are, R.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// Numbers of one of two types, a row behind the other.
struct ColumnInPlace {
  const double* doubles = nullptr;
  const int32_t* integers = nullptr;
};

// Columns of which rows become those of a tensor of another type and order as they are read: no copy
// of all of them is made. Whoever makes it sees to it that the numbers outlive it, and stay.
class RowsInPlace {
 public:
  // `shape` begins with the rows; int32 takes integers only.
  RowsInPlace(DType dtype, const Shape& shape, std::vector<ColumnInPlace> columns);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_.dim(0); }
  int64_t width() const { return static_cast<int64_t>(columns_.size()); }
  size_t row_bytes() const { return columns_.size() * dtype_size(dtype_); }
  const std::vector<ColumnInPlace>& columns() const { return columns_; }
  // What is kept, in bytes.
  size_t num_bytes() const;

  // Rows `first` to `first + n`, as a tensor has them.
  void read(int64_t first, int64_t n, void* to) const;
  // Of `n` rows in rising order what column `k` has, each to a place of its own in `to`.
  struct Place {
    int64_t row, at;
  };
  void spread(int64_t k, const Place* places, int64_t n, void* to) const;

 private:
  DType dtype_;
  Shape shape_;
  std::vector<ColumnInPlace> columns_;
};

// The next rows of a shuffled order, made ahead. One row of many columns is as many lines of memory,
// of which it needs an eighth: many rows at once take each column from its begin to its end.
class RowsAhead {
 public:
  // Forgets what there is.
  void clear() { begin_ = end_ = 0; }
  // Sees to it that rows `order[position]` to `order[position + n - 1]` are there; `all` is what
  // there is of rows, and always the same.
  void prepare(const std::vector<const RowsInPlace*>& all,
               const std::vector<int64_t>& order,
               int64_t position,
               int64_t n);
  // Those of `all[i]`, as a tensor has them.
  void read(size_t i, int64_t position, int64_t n, void* to) const;

 private:
  void fill(const std::vector<const RowsInPlace*>& all, const int64_t* order, int64_t n);

  std::vector<Tensor> made_;  // a column is a row of these
  int64_t begin_ = 0, end_ = 0, wanted_ = 0;
};

}  // namespace runhooks
