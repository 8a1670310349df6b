// What lives here: RowsInPlace, columns of numbers that are read where somebody else keeps them, and RowsAhead.
// Who may use it: data, the bindings.
// What it must not know: whose they are, R.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// Numbers of one of two types, or elements of the type that is wanted, a row behind the other.
struct ColumnInPlace {
  const double* doubles = nullptr;
  const int32_t* integers = nullptr;
  const void* same = nullptr;
};

// Columns of which rows become those of a tensor of another type and order as they are read: no
// copy of all of them is made. The numbers stay as they are as long as their owner is held.
class RowsInPlace {
 public:
  // `shape` begins with the rows; int32 takes integers only.
  RowsInPlace(DType dtype,
              const Shape& shape,
              std::vector<ColumnInPlace> columns,
              std::shared_ptr<const void> owner);
  // A tensor of one element a row, which must outlive it.
  explicit RowsInPlace(const Tensor& tensor);

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
  // What column `k` has in `n` rows, one behind the other.
  void gather(int64_t k, const int64_t* rows, int64_t n, void* to) const;
  // The same of rows in rising order, each to a place of its own: element `at` of a block of so
  // many bytes.
  struct Place {
    int64_t row;
    int32_t block, at;
  };
  void spread(int64_t k, const std::vector<Place>& places, char* to, size_t block_bytes) const;

 private:
  DType dtype_;
  Shape shape_;
  std::vector<ColumnInPlace> columns_;
  std::shared_ptr<const void> owner_;
};

// The next rows of a shuffled order, made ahead. One row of many columns is as many lines of
// memory, of which it needs an eighth: many rows at once take each column from its begin to its
// end. They are kept by batches, so that who takes one finds all its columns side by side.
class RowsAhead {
 public:
  using All = std::vector<std::shared_ptr<const RowsInPlace>>;
  // Fewer columns than that are found soon enough.
  static constexpr size_t kManyColumns = 32;
  // Forgets what there is.
  void clear() { begin_ = end_ = 0; }
  // Sees to it that rows `order[position]` to `order[position + n - 1]` are there; `all` is what
  // there is of rows, and always the same.
  void prepare(const All& all, const std::vector<int64_t>& order, int64_t position, int64_t n);
  // Those of the i-th of them, as a tensor has them.
  void read(size_t i, int64_t position, int64_t n, void* to) const;

 private:
  // A column of all that is made, and where it begins within a block.
  struct Column {
    const RowsInPlace* of;
    int64_t k;
    size_t begin;
  };
  void lay_out(const All& all, int64_t n);
  void reserve(int64_t rows);
  void fill(const int64_t* order, int64_t n);
  std::vector<RowsInPlace::Place> places(const int64_t* order, int64_t n) const;

  std::vector<Column> columns_;
  std::vector<size_t> first_columns_;  // of each of `all`, and the end
  int64_t block_ = 0;                  // rows of a block: a batch, or some
  size_t block_bytes_ = 0;
  Tensor made_;       // blocks
  int64_t lead_ = 0;  // rows that the first block lacks, for a batch to end where a block does
  int64_t begin_ = 0, end_ = 0, wanted_ = 0;
};

}  // namespace runhooks
