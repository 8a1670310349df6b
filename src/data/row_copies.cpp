#include "data/row_copies.h"

#include <algorithm>

#include "base/shared_pieces.h"
#include "base/stoppable_pieces.h"
#include "tensor/copy_rows.h"

namespace runhooks {

namespace {

constexpr size_t kMemoryLine = 64;
constexpr size_t kBytesOfColumnPiece = 8192;
// So many lines from anywhere take some ten microseconds: another thread is worth its call.
constexpr int64_t kSharedLines = 4096;

}  // namespace

void RowCopies::add(const void* from, void* to, size_t bytes) {
  if (bytes == 0) return;
  const auto rows = static_cast<int64_t>(std::max<size_t>(1, kBytesOfColumnPiece / bytes));
  columns_.push_back({static_cast<const char*>(from), static_cast<char*>(to), bytes, rows});
  row_bytes_ += bytes;
  row_lines_ += static_cast<int64_t>((bytes + kMemoryLine - 1) / kMemoryLine);
}

void RowCopies::make(const int64_t* numbers, int64_t n) const {
  const bool is_shared = n * row_lines_ >= kSharedLines && kernel_threads() > 1;
  in_stoppable_pieces(n, row_bytes_, [&](int64_t first, int64_t last) {
    if (!is_shared) {
      for (const Column& column : columns_) copy_piece({&column, first, last}, numbers);
      return;
    }
    const std::vector<Piece> all = pieces(first, last);
    share_each(static_cast<int64_t>(all.size()),
               [&](int64_t i) { copy_piece(all[static_cast<size_t>(i)], numbers); });
  });
}

std::vector<RowCopies::Piece> RowCopies::pieces(int64_t first, int64_t last) const {
  std::vector<Piece> all;
  for (const Column& column : columns_) {
    for (int64_t at = first; at < last; at += column.rows_of_piece) {
      all.push_back({&column, at, std::min(last, at + column.rows_of_piece)});
    }
  }
  return all;
}

void RowCopies::copy_piece(const Piece& piece, const int64_t* numbers) {
  const int64_t* const of_piece = numbers + piece.first;
  const size_t bytes = piece.column->bytes;
  const char* const from = piece.column->from;
  char* const to = piece.column->to + static_cast<size_t>(piece.first) * bytes;
  copy_rows(
      static_cast<size_t>(piece.last - piece.first), bytes,
      [=](size_t i) { return from + static_cast<size_t>(of_piece[i]) * bytes; },
      [=](size_t i) { return to + i * bytes; });
}

}  // namespace runhooks
