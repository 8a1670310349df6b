#include "data/rows_side_by_side.h"

#include <algorithm>

#include "base/interrupt.h"
#include "base/stoppable_pieces.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

// As many rows stay in the first cache while their numbers are turned into columns.
constexpr int64_t kRowsAtHand = 16;
constexpr size_t kAlignment = 8;
// What is read next is on its way: so many bytes ahead in each row.
constexpr size_t kAhead = 256, kLineOfRow = 64;

size_t rounded_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

std::vector<RowsSideBySide::Part> RowsSideBySide::parts_of(const AllRowsInPlace& all) {
  std::vector<Part> parts;
  size_t begin = 0;
  for (const auto& rows : all) {
    begin = rounded_up(begin, dtype_size(rows->dtype()));
    parts.push_back({begin, rows->row_bytes()});
    begin += rows->row_bytes();
  }
  return parts;
}

size_t RowsSideBySide::row_bytes(const std::vector<Part>& parts) {
  const size_t end = parts.empty() ? 0 : parts.back().begin + parts.back().bytes;
  return rounded_up(end, kAlignment);
}

size_t RowsSideBySide::num_bytes(const AllRowsInPlace& all) {
  return all.empty() ? 0 : static_cast<size_t>(all[0]->rows()) * row_bytes(parts_of(all));
}

RowsSideBySide::RowsSideBySide(const AllRowsInPlace& all)
    : parts_(parts_of(all)), row_bytes_(row_bytes(parts_)) {
  rows_ = Tensor(DType::kUint8, Shape{all[0]->rows(), static_cast<int64_t>(row_bytes_)});
  InterruptPoll poll;
  for (size_t i = 0; i < all.size(); ++i) {
    poll();
    all[i]->read(0, all[i]->rows(), static_cast<char*>(rows_.raw()) + parts_[i].begin, row_bytes_);
  }
}

void RowsSideBySide::gather(const int64_t* order, int64_t n, char* const* to) const {
  in_stoppable_pieces(n, row_bytes_, [&](int64_t first, int64_t last) {
    for (int64_t at = first; at < last; at += kRowsAtHand) {
      gather_block(order + at, std::min(kRowsAtHand, last - at), at, to);
    }
  });
}

void RowsSideBySide::gather_block(const int64_t* order,
                                  int64_t n,
                                  int64_t at,
                                  char* const* to) const {
  const char* rows[kRowsAtHand];
  for (int64_t i = 0; i < n; ++i) {
    rows[i] = static_cast<const char*>(rows_.raw()) + static_cast<size_t>(order[i]) * row_bytes_;
  }
  for (size_t k = 0; k < parts_.size(); ++k) {
    const Part& part = parts_[k];
    if (part.begin % kLineOfRow == 0) {
      for (int64_t i = 0; i < n; ++i) __builtin_prefetch(rows[i] + part.begin + kAhead);
    }
    char* const out = to[k] + static_cast<size_t>(at) * part.bytes;
    copy_rows(
        static_cast<size_t>(n), part.bytes, [&](size_t i) { return rows[i] + part.begin; },
        [&](size_t i) { return out + i * part.bytes; });
  }
}

}  // namespace runhooks
