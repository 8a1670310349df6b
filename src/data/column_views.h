// What lives here: ColumnViews, columns of numbers that are read where somebody else keeps them.
// Who may use it: data, the bindings.
// What it must not know: whose they are, R.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// Numbers of one of two types, or elements of the type that is wanted, a row behind the other.
struct ColumnView {
  const double* doubles = nullptr;
  const int32_t* integers = nullptr;
  const void* same = nullptr;
};

// Columns of which rows become those of a tensor of another type and order as they are read: no
// copy of all of them is made. The numbers stay as they are as long as their owner is held.
class ColumnViews {
 public:
  // `shape` begins with the rows; int32 takes integers only.
  ColumnViews(DType dtype,
              const Shape& shape,
              std::vector<ColumnView> columns,
              std::shared_ptr<const void> owner);
  // A tensor of one element a row, which must outlive it.
  explicit ColumnViews(const Tensor& tensor);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_.dim(0); }
  int64_t width() const { return static_cast<int64_t>(columns_.size()); }
  size_t row_bytes() const { return columns_.size() * dtype_size(dtype_); }
  const std::vector<ColumnView>& columns() const { return columns_; }
  // What is kept, in bytes.
  size_t num_bytes() const;

  // Rows `first` to `first + n`, as a tensor has them; or each that many bytes behind the one before.
  void read(int64_t first, int64_t n, void* to) const { read(first, n, to, row_bytes()); }
  void read(int64_t first, int64_t n, void* to, size_t stride) const;
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
  std::vector<ColumnView> columns_;
  std::shared_ptr<const void> owner_;
};

using AllRowsInPlace = std::vector<std::shared_ptr<const ColumnViews>>;

}  // namespace runhooks
