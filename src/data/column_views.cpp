#include "data/column_views.h"

#include <algorithm>

#include "base/interruptible_chunks.h"

namespace runhooks {

namespace {

// Calls use(from, x): `from` points to the column's numbers; x is a dummy with the type of `dtype`.
template <typename Use>
void dispatch_by_types(const ColumnView& column, DType dtype, const Use& use) {
  if (column.unconverted) {
    return dispatch_by_size(dtype, [&](auto bits) {
      use(static_cast<const decltype(bits)*>(column.unconverted), bits);
    });
  }
  if (dtype == DType::kInt32) return use(column.integers, int32_t{});
  const bool is_float = dtype == DType::kFloat32;
  if (column.doubles) {
    is_float ? use(column.doubles, float{}) : use(column.doubles, double{});
  } else {
    is_float ? use(column.integers, float{}) : use(column.integers, double{});
  }
}

}  // namespace

ColumnViews::ColumnViews(DType dtype,
                         const Shape& shape,
                         std::vector<ColumnView> columns,
                         std::shared_ptr<const void> owner)
    : dtype_(dtype), shape_(shape), columns_(std::move(columns)), owner_(std::move(owner)) {
  const bool is_known =
      dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt32;
  if (!is_known) invalid_argument("Cannot create a column view of type ", dtype_name(dtype), ".");
  for (const ColumnView& column : columns_) {
    const bool is_right = column.integers ? !column.doubles : column.doubles != nullptr;
    if (!is_right || (dtype == DType::kInt32 && !column.integers)) {
      fail(Code::kInternal, "A column view has no data of its type.");
    }
  }
  const int64_t wide = shape.rank() == 1 ? 1 : shape.rank() == 2 ? shape.dim(1) : -1;
  if (wide != width()) {
    fail(Code::kInternal, "A view of ", width(), " columns cannot have shape ", shape, ".");
  }
}

ColumnViews::ColumnViews(const Tensor& tensor)
    : dtype_(tensor.dtype()), shape_(tensor.shape()), columns_(1) {
  columns_[0].unconverted = tensor.raw();
}

size_t ColumnViews::num_bytes() const {
  size_t bytes = 0;
  for (const ColumnView& column : columns_) {
    const size_t element_bytes = column.doubles       ? sizeof(double)
                                 : column.unconverted ? dtype_size(dtype_)
                                                      : sizeof(int32_t);
    bytes += static_cast<size_t>(rows()) * element_bytes;
  }
  return bytes;
}

void ColumnViews::read(int64_t first, int64_t n, void* to) const {
  // A tile of this size keeps the source columns in the CPU cache while rows are written.
  constexpr int64_t kTileRows = 128, kTileColumns = 16;
  const auto read_tile = [&](int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    for (int64_t c = c0; c < c1; ++c) {
      dispatch_by_types(columns_[static_cast<size_t>(c)], dtype_, [&](const auto* from, auto type) {
        using To = decltype(type);
        To* const out = static_cast<To*>(to) + c;
        for (int64_t r = r0; r < r1; ++r) out[r * width()] = static_cast<To>(from[first + r]);
      });
    }
  };
  for_each_interruptible_chunk(n, row_bytes(), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r += kTileRows) {
      for (int64_t c = 0; c < width(); c += kTileColumns) {
        read_tile(r, std::min(end, r + kTileRows), c, std::min(width(), c + kTileColumns));
      }
    }
  });
}

void ColumnViews::scatter(const RowSlot* rows, int64_t n, char* to, size_t stride) const {
  for (const ColumnView& column : columns_) {
    dispatch_by_types(column, dtype_, [&](const auto* from, auto type) {
      using To = decltype(type);
      for (int64_t i = 0; i < n; ++i) {
        To* const out = reinterpret_cast<To*>(to + static_cast<size_t>(rows[i].slot) * stride);
        *out = static_cast<To>(from[rows[i].row]);
      }
    });
    to += dtype_size(dtype_);
  }
}

}  // namespace runhooks
