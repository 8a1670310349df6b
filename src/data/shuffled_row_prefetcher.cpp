#include "data/shuffled_row_prefetcher.h"

#include <algorithm>

#include "base/parallel_for.h"
#include "base/interruptible_chunks.h"
#include "data/tiling.h"

namespace runhooks {

namespace {

// The first number of rows to prefetch; it grows, because short trainings need few.
constexpr int64_t kFirstRows = 1024;
// Share of the data's size used for prefetching, and its minimum in bytes.
constexpr size_t kPrefetchShare = 8, kMinPrefetchBytes = size_t{16} << 20;
// Larger columns are scanned from start to end; smaller ones stay in the CPU cache.
constexpr size_t kSmallColumn = size_t{1} << 18;
// Minimum rows per block, so that a column's share spans several cache lines.
constexpr int64_t kMinBlock = 64;
constexpr size_t kLine = 64;

}  // namespace

void ShuffledRowPrefetcher::take(const AllRowsInPlace& all,
                     const std::vector<int64_t>& order,
                     int64_t position,
                     int64_t n,
                     char* const* to) {
  if (!packed_rows_) prepare(all, order, position, n);
  if (packed_rows_) return packed_rows_->gather(order.data() + position, n, to);
  for (size_t i = 0; i < all.size(); ++i) read(i, position, n, to[i]);
}

void ShuffledRowPrefetcher::prepare(const AllRowsInPlace& all,
                        const std::vector<int64_t>& order,
                        int64_t position,
                        int64_t n) {
  if (position >= begin_ && position + n <= end_) return;
  size_t kept = 0, row = 1;
  for (const auto& rows : all) {
    kept += rows->num_bytes();
    row += rows->row_bytes();
  }
  const size_t bytes = std::max(kMinPrefetchBytes, kept / kPrefetchShare);
  const auto most = static_cast<int64_t>(bytes / row);
  wanted_ = wanted_ == 0 ? kFirstRows : std::min(2 * wanted_, std::max(kFirstRows, most));
  if (wanted_ >= static_cast<int64_t>(order.size()) && PackedRows::num_bytes(all) <= bytes) {
    packed_rows_ = std::make_unique<const PackedRows>(all);
    made_ = Tensor();
    return;
  }
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

// Allocates blocks of whole batches of `n` rows.
void ShuffledRowPrefetcher::lay_out(const AllRowsInPlace& all, int64_t n) {
  block_ = n * ((kMinBlock + n - 1) / n);
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

void ShuffledRowPrefetcher::reserve(int64_t rows) {
  const int64_t blocks = (rows + block_ - 1) / block_;
  const Shape shape{blocks, static_cast<int64_t>(block_bytes_)};
  if (made_.is_valid() && made_.shape() == shape) return;
  made_ = Tensor();  // frees the old buffer before allocating
  made_ = Tensor(DType::kUint8, shape);
}

// The target of each row, sorted by row number.
std::vector<ColumnViews::Place> ShuffledRowPrefetcher::places(const int64_t* order, int64_t n) const {
  std::vector<ColumnViews::Place> places(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    places[static_cast<size_t>(i)] = {order[i], static_cast<int32_t>((lead_ + i) / block_),
                                      static_cast<int32_t>((lead_ + i) % block_)};
  }
  std::sort(places.begin(), places.end(),
            [](const auto& a, const auto& b) { return a.row < b.row; });
  return places;
}

void ShuffledRowPrefetcher::fill(const int64_t* order, int64_t n) {
  if (columns_.empty()) return;
  const size_t bytes = static_cast<size_t>(columns_[0].of->rows()) * sizeof(double);
  std::vector<ColumnViews::Place> sorted;
  if (columns_.size() >= kManyColumns && bytes > kSmallColumn) sorted = places(order, n);
  char* const made = static_cast<char*>(made_.raw());
  const auto fill_column = [&](const Column& column) {
    char* to = made + column.begin;
    if (!sorted.empty()) return column.of->scatter(column.k, sorted, to, block_bytes_);
    const size_t element = dtype_size(column.of->dtype());
    int64_t at = lead_;  // in the first block
    for (int64_t i = 0; i < n; to += block_bytes_) {
      const int64_t part = std::min(n - i, block_ - at);
      column.of->gather(column.k, order + i, part, to + static_cast<size_t>(at) * element);
      i += part;
      at = 0;
    }
  };
  for_each_interruptible_chunk(
      static_cast<int64_t>(columns_.size()), bytes, [&](int64_t first, int64_t last) {
        parallel_for(last - first,
                   [&](int64_t i) { fill_column(columns_[static_cast<size_t>(first + i)]); });
      });
}

void ShuffledRowPrefetcher::read(size_t i, int64_t position, int64_t n, void* to) const {
  const Column* const columns = columns_.data() + first_columns_[i];
  const auto width = static_cast<int64_t>(first_columns_[i + 1] - first_columns_[i]);
  if (width == 0) return;
  dispatch_by_size(columns->of->dtype(), [&](auto bits) {
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
        for_each_tile(part, width, [&](int64_t c0, int64_t c1, int64_t r0, int64_t r1) {
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
