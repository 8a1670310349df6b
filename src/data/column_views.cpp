#include "data/column_views.h"

#include <algorithm>
#include <type_traits>

#include "base/interruptible_chunks.h"
#include "data/tiling.h"

namespace runhooks {

namespace {

// Calls use(from, x): `from` points to the column's numbers, and x has the C++ type of `dtype`.
template <typename Use>
void with_types(const ColumnView& column, DType dtype, const Use& use) {
  if (column.same) {
    return dispatch_by_size(
        dtype, [&](auto bits) { use(static_cast<const decltype(bits)*>(column.same), bits); });
  }
  if (dtype == DType::kInt32) return use(column.integers, int32_t{});
  const bool is_float = dtype == DType::kFloat32;
  if (column.doubles) {
    is_float ? use(column.doubles, float{}) : use(column.doubles, double{});
  } else {
    is_float ? use(column.integers, float{}) : use(column.integers, double{});
  }
}

// Integers are converted through double, as elsewhere.
template <typename To, typename From>
To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else {
    return static_cast<To>(static_cast<double>(x));
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
  columns_[0].same = tensor.raw();
}

size_t ColumnViews::num_bytes() const {
  size_t bytes = 0;
  for (const ColumnView& column : columns_) {
    const size_t own = column.same ? dtype_size(dtype_) : sizeof(int32_t);
    bytes += static_cast<size_t>(rows()) * (column.doubles ? sizeof(double) : own);
  }
  return bytes;
}

void ColumnViews::read(int64_t first, int64_t n, void* to, size_t stride) const {
  for_each_interruptible_chunk(n, row_bytes(), [&](int64_t begin, int64_t end) {
    for_each_tile(end - begin, width(), [&](int64_t c0, int64_t c1, int64_t r0, int64_t r1) {
      for (int64_t c = c0; c < c1; ++c) {
        with_types(columns_[static_cast<size_t>(c)], dtype_, [&](const auto* from, auto type) {
          using To = decltype(type);
          const auto step = static_cast<int64_t>(stride / sizeof(To));
          To* out = static_cast<To*>(to) + begin * step + c;
          from += first + begin;
          for (int64_t r = r0; r < r1; ++r) out[r * step] = converted<To>(from[r]);
        });
      }
    });
  });
}

void ColumnViews::gather(int64_t k, const int64_t* rows, int64_t n, void* to) const {
  with_types(columns_[static_cast<size_t>(k)], dtype_, [&](const auto* from, auto type) {
    using To = decltype(type);
    To* out = static_cast<To*>(to);
    for (int64_t i = 0; i < n; ++i) out[i] = converted<To>(from[rows[i]]);
  });
}

void ColumnViews::scatter(int64_t k,
                          const std::vector<Place>& places,
                          char* to,
                          size_t block_bytes) const {
  with_types(columns_[static_cast<size_t>(k)], dtype_, [&](const auto* from, auto type) {
    using To = decltype(type);
    for (const Place& place : places) {
      To* const block = reinterpret_cast<To*>(to + static_cast<size_t>(place.block) * block_bytes);
      block[place.at] = converted<To>(from[place.row]);
    }
  });
}

}  // namespace runhooks
