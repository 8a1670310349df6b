#include "data/csv_block.h"

#include <algorithm>
#include <cstring>

#include "base/helping_queue.h"

namespace runhooks {

namespace {

constexpr size_t kPiece = 16 * 1024;       // bytes; about 50 microseconds of work
constexpr size_t kMostText = 16 * kPiece;  // limit per block
// minimum number of records for parallel reading
constexpr int64_t kFewest = 128, kFewestFound = 16;

}  // namespace

CsvBlock::CsvBlock(const CsvColumns& columns) : columns_(columns) {
  for (size_t k = 0; k < columns.columns().size(); ++k) {
    if (columns.columns()[k].dtype == DType::kString) word_columns_.push_back(k);
  }
  words_.resize(word_columns_.size());
}

int64_t CsvBlock::read(std::string_view text,
                       int64_t n,
                       int64_t first,
                       bool needs_utf8,
                       CsvRows& rows,
                       const Words& words) {
  tried_ = 0;
  needs_utf8_ = needs_utf8;
  if (n < kFewest) return 0;
  const int64_t found = cut(text.substr(0, kMostText), n);
  if (found < kFewestFound) return 0;
  rows.reserve(first + found);
  for (auto& column : words_) column.resize(std::max(column.size(), static_cast<size_t>(found)));
  is_ill_ = false;
  const auto guarded = [this](const auto& work) {  // exceptions must not leave a worker
    try {
      if (!is_ill_.load(std::memory_order_relaxed) && !work()) is_ill_ = true;
    } catch (...) {
      is_ill_ = true;
    }
  };
  helping_for(num_pieces_,
              [&](size_t i) { guarded([&] { return read_piece(pieces_[i], first, rows); }); });
  // The code of a string depends on the strings before it, so each column is encoded serially.
  helping_for(word_columns_.size(), [&](size_t j) {
    guarded([&] {
      code_column(j, found, first, rows, words);
      return true;
    });
  });
  if (is_ill_) {
    tried_ = found;
    return 0;
  }
  taken_ = CsvReader::Taken();
  for (size_t i = 0; i < num_pieces_; ++i) {
    taken_.bytes += pieces_[i].text.size();
    taken_.lines += pieces_[i].lines;
  }
  taken_.last_lines = pieces_[num_pieces_ - 1].last_lines;
  return found;
}

int64_t CsvBlock::cut(std::string_view text, int64_t n) {
  CsvCutter cutter(text, columns_.format());
  num_pieces_ = 0;
  int64_t found = 0;
  while (found < n) {
    std::string_view lines;
    const int64_t got = cutter.next(kPiece, n - found, &lines);
    if (got == 0) break;
    add_piece(lines, found, got);
    found += got;
  }
  return found;
}

void CsvBlock::add_piece(std::string_view text, int64_t first, int64_t rows) {
  if (num_pieces_ == pieces_.size()) pieces_.emplace_back(columns_.format());
  Piece& piece = pieces_[num_pieces_++];
  piece.text = text;
  piece.first = first;
  piece.rows = rows;
}

// Returns false unless the piece consists of whole, well-formed records.
bool CsvBlock::read_piece(Piece& piece, int64_t first, CsvRows& rows) {
  std::string_view left = piece.text;
  piece.copies.clear();
  piece.lines = 0;
  for (int64_t row = piece.first; row < piece.first + piece.rows; ++row) {
    if (left.empty() || piece.splitter.split(left, false) != CsvSplit::kRecord) return false;
    if (!read_record(piece, row, first + row, rows)) return false;
    left.remove_prefix(piece.splitter.size());
    piece.last_lines = piece.splitter.lines();
    piece.lines += piece.last_lines;
  }
  return left.empty();
}

bool CsvBlock::read_record(Piece& piece, int64_t row, int64_t place, CsvRows& rows) {
  const std::vector<std::string_view>& fields = piece.splitter.fields();
  if (!columns_.has_count(fields.size())) return false;
  size_t j = 0;
  for (size_t k = 0; k < columns_.columns().size(); ++k) {
    const CsvColumn& column = columns_.columns()[k];
    std::string_view field = fields[column.field];
    if (column.dtype != DType::kString) {
      if (!columns_.try_number(k, field, rows.at(k, place))) return false;
      continue;
    }
    const bool is_in_text =
        field.data() >= piece.text.data() && field.data() <= piece.text.data() + piece.text.size();
    std::string decoded;
    if (!columns_.decoder().decode(&field, &decoded)) return false;
    const bool is_decoded = field.data() == decoded.data();
    if (!columns_.try_word(k, &field)) return false;
    if (needs_utf8_ && !is_utf8(field)) return false;
    if (!is_in_text || is_decoded) field = piece.copies.emplace_back(field);
    words_[j++][static_cast<size_t>(row)] = field;
  }
  return true;
}

void CsvBlock::code_column(size_t j, int64_t n, int64_t first, CsvRows& rows, const Words& words) {
  const size_t k = word_columns_[j];
  char* place = rows.at(k, first);
  for (int64_t i = 0; i < n; ++i, place += sizeof(int32_t)) {
    const int32_t code = words[k]->code(words_[j][static_cast<size_t>(i)]);
    std::memcpy(place, &code, sizeof code);
  }
}

}  // namespace runhooks
