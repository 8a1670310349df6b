// ColumnViews: zero-copy views of numeric columns that another object owns.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// Contiguous numbers of one of two types, or elements of the target type.
struct ColumnView {
  const double* doubles = nullptr;
  const int32_t* integers = nullptr;
  const void* same = nullptr;
};

// Converts rows of columns to a tensor's type and layout while reading, so the columns are never
// copied as a whole. The numbers must not change while their owner is held.
class ColumnViews {
 public:
  // `shape` starts with the number of rows. int32 accepts integers only.
  ColumnViews(DType dtype,
              const Shape& shape,
              std::vector<ColumnView> columns,
              std::shared_ptr<const void> owner);
  // A tensor with one element per row, which must outlive the view.
  explicit ColumnViews(const Tensor& tensor);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_.dim(0); }
  int64_t width() const { return static_cast<int64_t>(columns_.size()); }
  size_t row_bytes() const { return columns_.size() * dtype_size(dtype_); }
  const std::vector<ColumnView>& columns() const { return columns_; }
  // Size in bytes of the memory that the view refers to.
  size_t num_bytes() const;

  // Writes rows `first` to `first + n` in the layout of a tensor.
  void read(int64_t first, int64_t n, void* to) const;
  // Writes `n` rows to slots of `stride` bytes.
  struct Place {
    int64_t row, slot;
  };
  void scatter(const Place* places, int64_t n, char* to, size_t stride) const;

 private:
  DType dtype_;
  Shape shape_;
  std::vector<ColumnView> columns_;
  std::shared_ptr<const void> owner_;
};

using AllRowsInPlace = std::vector<std::shared_ptr<const ColumnViews>>;

}  // namespace runhooks
