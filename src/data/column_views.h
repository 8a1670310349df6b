// ColumnViews: zero-copy views of numeric columns that another object owns.
#pragma once

#include <memory>
#include <vector>

#include "tensor/tensor.h"

namespace runhooks {

// Calls use(x), where x is a dummy: an unsigned integer of the same size as `dtype`.
template <typename Use>
void dispatch_by_size(DType dtype, const Use& use) {
  switch (dtype_size(dtype)) {
    case 1:
      return use(uint8_t{});
    case 2:
      return use(uint16_t{});
    case 4:
      return use(uint32_t{});
    default:
      return use(uint64_t{});
  }
}

// One column. Exactly one pointer is set: to doubles, to integers, or to elements that already have
// the type of the tensor.
struct ColumnView {
  const double* doubles = nullptr;
  const int32_t* integers = nullptr;
  const void* unconverted = nullptr;
};

// Several columns that form a tensor of type `dtype`. Rows are converted to that type when they are
// read, so the columns are never copied as a whole. The numbers must not change while the view
// exists.
class ColumnViews {
 public:
  // `shape` starts with the number of rows. Type int32 accepts integers only. `owner` keeps the
  // numbers alive.
  ColumnViews(DType dtype,
              const Shape& shape,
              std::vector<ColumnView> columns,
              std::shared_ptr<const void> owner);
  // A view of a tensor with one element per row, which must outlive the view.
  explicit ColumnViews(const Tensor& tensor);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t rows() const { return shape_.dim(0); }
  int64_t width() const { return static_cast<int64_t>(columns_.size()); }
  size_t row_bytes() const { return columns_.size() * dtype_size(dtype_); }
  const std::vector<ColumnView>& columns() const { return columns_; }
  // The size of the viewed memory in bytes.
  size_t num_bytes() const;

  // Writes the `n` rows from `first` on to `to`, in the layout of a tensor.
  void read(int64_t first, int64_t n, void* to) const;
  // Writes each of `n` rows to its slot. Slots follow each other from `to` on, `stride` bytes
  // apart.
  struct RowSlot {
    int64_t row, slot;
  };
  void scatter(const RowSlot* rows, int64_t n, char* to, size_t stride) const;

 private:
  DType dtype_;
  Shape shape_;
  std::vector<ColumnView> columns_;
  std::shared_ptr<const void> owner_;
};

using ColumnViewsList = std::vector<std::shared_ptr<const ColumnViews>>;

}  // namespace runhooks
