#include "data/rows_in_place.h"

#include <algorithm>
#include <type_traits>

#include "base/shared_pieces.h"
#include "base/stoppable_pieces.h"

namespace runhooks {

namespace {

// Calls use(an element) with an unsigned number of as many bytes as one of type `dtype` has.
template <typename Use>
void with_bits(DType dtype, const Use& use) {
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

// Calls use(from, a number of the type that `dtype` means) with the numbers of a column.
template <typename Use>
void with_types(const ColumnInPlace& column, DType dtype, const Use& use) {
  if (column.same) {
    return with_bits(
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
// A column of more bytes is read from its begin to its end; a smaller one stays at hand.
constexpr size_t kSmallColumn = size_t{1} << 18;
// A block has so many rows at least, so that a column's part of it is some lines.
constexpr int64_t kLeastBlock = 64;
constexpr size_t kLine = 64;

}  // namespace

RowsInPlace::RowsInPlace(DType dtype,
                         const Shape& shape,
                         std::vector<ColumnInPlace> columns,
                         std::shared_ptr<const void> owner)
    : dtype_(dtype), shape_(shape), columns_(std::move(columns)), owner_(std::move(owner)) {
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

RowsInPlace::RowsInPlace(const Tensor& tensor)
    : dtype_(tensor.dtype()), shape_(tensor.shape()), columns_(1) {
  columns_[0].same = tensor.raw();
}

size_t RowsInPlace::num_bytes() const {
  size_t bytes = 0;
  for (const ColumnInPlace& column : columns_) {
    const size_t own = column.same ? dtype_size(dtype_) : sizeof(int32_t);
    bytes += static_cast<size_t>(rows()) * (column.doubles ? sizeof(double) : own);
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

void RowsInPlace::gather(int64_t k, const int64_t* rows, int64_t n, void* to) const {
  with_types(columns_[static_cast<size_t>(k)], dtype_, [&](const auto* from, auto type) {
    using To = decltype(type);
    To* out = static_cast<To*>(to);
    for (int64_t i = 0; i < n; ++i) out[i] = converted<To>(from[rows[i]]);
  });
}

void RowsInPlace::spread(int64_t k,
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

void RowsAhead::prepare(const All& all,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n) {
  if (position >= begin_ && position + n <= end_) return;
  size_t kept = 0, row = 1;
  for (const auto& rows : all) {
    kept += rows->num_bytes();
    row += rows->row_bytes();
  }
  const size_t bytes = std::max(kLeastBytesAhead, kept / kPartAhead);
  const auto most = static_cast<int64_t>(bytes / row);
  wanted_ = wanted_ == 0 ? kFirstRows : std::min(2 * wanted_, std::max(kFirstRows, most));
  const int64_t left = static_cast<int64_t>(order.size()) - position;
  const int64_t count = std::min(left, std::max(n, wanted_));
  clear();
  if (n > block_) lay_out(all, n);
  lead_ = (block_ - n % block_) % block_;
  reserve(lead_ + count);
  fill(order.data() + position, count);
  begin_ = position;
  end_ = position + count;
}

// Blocks of whole batches of `n` rows.
void RowsAhead::lay_out(const All& all, int64_t n) {
  block_ = n * ((kLeastBlock + n - 1) / n);
  columns_.clear();
  first_columns_.clear();
  block_bytes_ = 0;
  for (const auto& rows : all) {
    const size_t bytes = static_cast<size_t>(block_) * dtype_size(rows->dtype());
    first_columns_.push_back(columns_.size());
    for (int64_t k = 0; k < rows->width(); ++k) {
      columns_.push_back({rows.get(), k, block_bytes_});
      block_bytes_ += (bytes + kLine - 1) / kLine * kLine;
    }
  }
  first_columns_.push_back(columns_.size());
}

void RowsAhead::reserve(int64_t rows) {
  const int64_t blocks = (rows + block_ - 1) / block_;
  const Shape shape{blocks, static_cast<int64_t>(block_bytes_)};
  if (made_.is_valid() && made_.shape() == shape) return;
  made_ = Tensor();  // before there is another one
  made_ = Tensor(DType::kUint8, shape);
}

// Where each row goes, in the order in which a column has them.
std::vector<RowsInPlace::Place> RowsAhead::places(const int64_t* order, int64_t n) const {
  std::vector<RowsInPlace::Place> places(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    places[static_cast<size_t>(i)] = {order[i], static_cast<int32_t>((lead_ + i) / block_),
                                      static_cast<int32_t>((lead_ + i) % block_)};
  }
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.row < b.row; });
  return places;
}

void RowsAhead::fill(const int64_t* order, int64_t n) {
  if (columns_.empty()) return;
  const size_t bytes = static_cast<size_t>(columns_[0].of->rows()) * sizeof(double);
  std::vector<RowsInPlace::Place> sorted;
  if (columns_.size() >= kManyColumns && bytes > kSmallColumn) sorted = places(order, n);
  char* const made = static_cast<char*>(made_.raw());
  const auto fill_column = [&](const Column& column) {
    char* to = made + column.begin;
    if (!sorted.empty()) return column.of->spread(column.k, sorted, to, block_bytes_);
    const size_t element = dtype_size(column.of->dtype());
    int64_t at = lead_;  // in the first block
    for (int64_t i = 0; i < n; to += block_bytes_) {
      const int64_t part = std::min(n - i, block_ - at);
      column.of->gather(column.k, order + i, part, to + static_cast<size_t>(at) * element);
      i += part;
      at = 0;
    }
  };
  in_stoppable_pieces(
      static_cast<int64_t>(columns_.size()), bytes, [&](int64_t first, int64_t last) {
        share_each(last - first,
                   [&](int64_t i) { fill_column(columns_[static_cast<size_t>(first + i)]); });
      });
}

void RowsAhead::read(size_t i, int64_t position, int64_t n, void* to) const {
  const Column* const columns = columns_.data() + first_columns_[i];
  const auto width = static_cast<int64_t>(first_columns_[i + 1] - first_columns_[i]);
  if (width == 0) return;
  with_bits(columns->of->dtype(), [&](auto bits) {
    using T = decltype(bits);
    T* out = static_cast<T*>(to);
    for (int64_t row = lead_ + position - begin_, end = row + n; row < end;) {
      const int64_t at = row % block_, part = std::min(end - row, block_ - at);
      const char* const block =
          static_cast<const char*>(made_.raw()) + static_cast<size_t>(row / block_) * block_bytes_;
      const auto from = [&](int64_t c) {
        return reinterpret_cast<const T*>(block + columns[c].begin) + at;
      };
      if (width == 1) {
        std::copy(from(0), from(0) + part, out);
      } else {
        in_blocks(part, width, [&](int64_t c0, int64_t c1, int64_t r0, int64_t r1) {
          for (int64_t c = c0; c < c1; ++c) {
            const T* const column = from(c);
            for (int64_t r = r0; r < r1; ++r) out[r * width + c] = column[r];
          }
        });
      }
      out += part * width;
      row += part;
    }
  });
}

}  // namespace runhooks
