// What lives here: CsvBlock, many records of delimited text that are read at once, by several threads.
// Who may use it: csv_dataset.
// What it must not know: files, what is wrong with an ill record.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_columns.h"

namespace runhooks {

// Rows of which each column stands by itself.
class CsvRows {
 public:
  explicit CsvRows(const CsvColumns& columns) : values_(columns.columns().size()) {
    for (const CsvColumn& column : columns.columns()) bytes_.push_back(dtype_size(column.dtype));
  }
  // Room for rows up to there.
  void reserve(int64_t rows) {
    if (rows <= room_) return;
    room_ = 2 * rows;
    for (size_t k = 0; k < values_.size(); ++k) {
      values_[k].resize(static_cast<size_t>(room_) * bytes_[k]);
    }
  }
  char* at(size_t k, int64_t row) {
    return values_[k].data() + static_cast<size_t>(row) * bytes_[k];
  }

 private:
  std::vector<size_t> bytes_;  // of an element
  std::vector<std::vector<char>> values_;
  int64_t room_ = 0;
};

// The text is cut where lines end. That records end there, too, is a guess, as quotes may hold line
// ends: each piece must be whole records, and as the first begins with one the next ones do. What
// is not as guessed, or ill, is left to who reads one record after the other.
class CsvBlock {
 public:
  using Words = std::vector<std::shared_ptr<StringDictionary>>;
  explicit CsvBlock(const CsvColumns& columns);

  // The records at the beginning of `text`, up to `n`, to `rows` from row `first` on; strings as
  // codes of `words`, the same as if they were read in turns. Returns how many: 0 where there are
  // few, or where one is ill, and then nothing counts as read.
  int64_t read(std::string_view text, int64_t n, int64_t first, CsvRows& rows, const Words& words);
  const CsvReader::Taken& taken() const { return taken_; }
  // How many records were tried in vain.
  int64_t tried() const { return tried_; }

 private:
  struct Piece {
    explicit Piece(const CsvFormat& format) : splitter(format) {}
    std::string_view text;
    int64_t first = 0, rows = 0;  // from the block's first row on
    int64_t lines = 0, last_lines = 0;
    CsvSplitter splitter;
    std::deque<std::string> copies;  // of words that the splitter has put together
  };
  int64_t cut(std::string_view text, int64_t n);
  void add_piece(std::string_view text, int64_t first, int64_t rows);
  bool read_piece(Piece& piece, int64_t first, CsvRows& rows);
  bool read_record(Piece& piece, int64_t row, int64_t place, CsvRows& rows);
  void code_column(size_t j, int64_t n, int64_t first, CsvRows& rows, const Words& words);

  const CsvColumns& columns_;
  std::vector<size_t> word_columns_;
  std::vector<std::vector<std::string_view>> words_;  // of each of these columns
  std::deque<Piece> pieces_;                          // they keep their memory
  size_t num_pieces_ = 0;
  std::atomic<bool> is_ill_{false};
  CsvReader::Taken taken_;
  int64_t tried_ = 0;
};

}  // namespace runhooks
