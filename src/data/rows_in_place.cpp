#include "data/rows_in_place.h"

#include <algorithm>
#include <type_traits>

#include "base/shared_pieces.h"
#include "base/stoppable_pieces.h"

namespace runhooks {

namespace {

// Calls use(from, a number of the type that `dtype` means) with the numbers of a column.
template <typename Use>
void with_types(const ColumnInPlace& column, DType dtype, const Use& use) {
  if (dtype == DType::kInt32) return use(column.integers, int32_t{});
  const bool is_float = dtype == DType::kFloat32;
  if (column.doubles) {
    is_float ? use(column.doubles, float{}) : use(column.doubles, double{});
  } else {
    is_float ? use(column.integers, float{}) : use(column.integers, double{});
  }
}

// The same for what is of that type already.
template <typename Use>
void with_type(DType dtype, const Use& use) {
  if (dtype == DType::kInt32) return use(int32_t{});
  dtype == DType::kFloat32 ? use(float{}) : use(double{});
}

// Integers by way of doubles, as elsewhere.
template <typename To, typename From>
To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else {
    return static_cast<To>(static_cast<double>(x));
  }
}

// As many columns of so many rows side by side stay at hand while rows are made of them.
constexpr int64_t kColumns = 16, kRows = 128;

// Calls put(first column, end, first row, end) for blocks of rows and columns.
template <typename Put>
void in_blocks(int64_t rows, int64_t columns, const Put& put) {
  for (int64_t r = 0; r < rows; r += kRows) {
    for (int64_t c = 0; c < columns; c += kColumns) {
      put(c, std::min(columns, c + kColumns), r, std::min(rows, r + kRows));
    }
  }
}

// The rows that are made at first, of which more and more follow: few steps need few.
constexpr int64_t kFirstRows = 1024;
// Of the bytes that are kept, the part that is made ahead, and the least.
constexpr size_t kPartAhead = 8, kLeastBytesAhead = size_t{16} << 20;

}  // namespace

RowsInPlace::RowsInPlace(DType dtype, const Shape& shape, std::vector<ColumnInPlace> columns)
    : dtype_(dtype), shape_(shape), columns_(std::move(columns)) {
  const bool is_known =
      dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kInt32;
  if (!is_known) invalid_argument("No rows of type ", dtype_name(dtype), " are read in place.");
  for (const ColumnInPlace& column : columns_) {
    const bool is_right = column.integers ? !column.doubles : column.doubles != nullptr;
    if (!is_right || (dtype == DType::kInt32 && !column.integers)) {
      fail(Code::kInternal, "A column that is read in place has no numbers of its type.");
    }
  }
  const int64_t wide = shape.rank() == 1 ? 1 : shape.rank() == 2 ? shape.dim(1) : -1;
  if (wide != width()) {
    fail(Code::kInternal, "Rows of ", width(), " columns have the shape ", shape, ".");
  }
}

size_t RowsInPlace::num_bytes() const {
  size_t bytes = 0;
  for (const ColumnInPlace& column : columns_) {
    bytes += static_cast<size_t>(rows()) * (column.doubles ? sizeof(double) : sizeof(int32_t));
  }
  return bytes;
}

void RowsInPlace::read(int64_t first, int64_t n, void* to) const {
  in_stoppable_pieces(n, row_bytes(), [&](int64_t begin, int64_t end) {
    in_blocks(end - begin, width(), [&](int64_t c0, int64_t c1, int64_t r0, int64_t r1) {
      for (int64_t c = c0; c < c1; ++c) {
        with_types(columns_[static_cast<size_t>(c)], dtype_, [&](const auto* from, auto type) {
          using To = decltype(type);
          To* out = static_cast<To*>(to) + begin * width() + c;
          from += first + begin;
          for (int64_t r = r0; r < r1; ++r) out[r * width()] = converted<To>(from[r]);
        });
      }
    });
  });
}

void RowsInPlace::spread(int64_t k, const Place* places, int64_t n, void* to) const {
  with_types(columns_[static_cast<size_t>(k)], dtype_, [&](const auto* from, auto type) {
    using To = decltype(type);
    To* out = static_cast<To*>(to);
    for (int64_t i = 0; i < n; ++i) out[places[i].at] = converted<To>(from[places[i].row]);
  });
}

void RowsAhead::prepare(const std::vector<const RowsInPlace*>& all,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n) {
  if (position >= begin_ && position + n <= end_) return;
  size_t kept = 0, row = 1;
  for (const RowsInPlace* rows : all) {
    kept += rows->num_bytes();
    row += rows->row_bytes();
  }
  const size_t bytes = std::max(kLeastBytesAhead, kept / kPartAhead);
  const auto most = static_cast<int64_t>(bytes / row);
  wanted_ = wanted_ == 0 ? kFirstRows : std::min(2 * wanted_, std::max(kFirstRows, most));
  const int64_t left = static_cast<int64_t>(order.size()) - position;
  const int64_t count = std::min(left, std::max(n, wanted_));
  clear();
  fill(all, order.data() + position, count);
  begin_ = position;
  end_ = position + count;
}

void RowsAhead::fill(const std::vector<const RowsInPlace*>& all, const int64_t* order, int64_t n) {
  made_.resize(all.size());
  struct Column {
    size_t of;
    int64_t k;
  };
  std::vector<Column> columns;
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t width = all[i]->width();
    const Tensor& made = made_[i];
    if (!made.is_valid() || made.shape().dim(1) != n) {
      made_[i] = Tensor();  // before there is another one
      made_[i] = Tensor(all[i]->dtype(), Shape{width, n});
    }
    for (int64_t k = 0; k < width; ++k) columns.push_back({i, k});
  }
  std::vector<RowsInPlace::Place> places(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) places[static_cast<size_t>(i)] = {order[i], i};
  std::sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.row < b.row; });
  const size_t bytes = static_cast<size_t>(all[0]->rows()) * sizeof(double);
  in_stoppable_pieces(static_cast<int64_t>(columns.size()), bytes, [&](int64_t first, int64_t last) {
    share_each(last - first, [&](int64_t i) {
      const Column& column = columns[static_cast<size_t>(first + i)];
      Tensor& made = made_[column.of];
      char* const to = static_cast<char*>(made.raw()) +
                       static_cast<size_t>(column.k * n) * dtype_size(made.dtype());
      all[column.of]->spread(column.k, places.data(), n, to);
    });
  });
}

void RowsAhead::read(size_t i, int64_t position, int64_t n, void* to) const {
  const Tensor& made = made_[i];
  const int64_t width = made.shape().dim(0), rows = made.shape().dim(1);
  with_type(made.dtype(), [&](auto type) {
    using T = decltype(type);
    const T* from = made.data<T>() + (position - begin_);
    T* out = static_cast<T*>(to);
    in_blocks(n, width, [&](int64_t c0, int64_t c1, int64_t r0, int64_t r1) {
      for (int64_t c = c0; c < c1; ++c) {
        for (int64_t r = r0; r < r1; ++r) out[r * width + c] = from[c * rows + r];
      }
    });
  });
}

}  // namespace runhooks
