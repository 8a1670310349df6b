// CsvBlock: parses many records of delimited text at once on several threads.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv_columns.h"

namespace runhooks {

// Rows stored column by column.
class CsvRows {
 public:
  explicit CsvRows(const CsvColumns& columns) : values_(columns.columns().size()) {
    for (const CsvColumn& column : columns.columns()) bytes_.push_back(dtype_size(column.dtype));
  }
  // Ensures capacity for `rows` rows.
  void reserve(int64_t rows) {
    if (rows <= capacity_) return;
    capacity_ = 2 * rows;
    for (size_t k = 0; k < values_.size(); ++k) {
      values_[k].resize(static_cast<size_t>(capacity_) * bytes_[k]);
    }
  }
  char* at(size_t k, int64_t row) {
    return values_[k].data() + static_cast<size_t>(row) * bytes_[k];
  }

 private:
  std::vector<size_t> bytes_;  // per element
  std::vector<std::vector<char>> values_;
  int64_t capacity_ = 0;
};

// Splits the text at line ends. Quoted fields may contain line ends, so each split point is only a
// guess that is verified: the pieces must consist of whole records. If the guess fails or a record
// is malformed, the caller reads record by record.
class CsvBlock {
 public:
  using Dictionaries = std::vector<std::shared_ptr<StringDictionary>>;
  explicit CsvBlock(const CsvColumns& columns);

  // Parses up to `n` records from the start of `text` into `rows`, starting at row `first`.
  // Strings become codes of `words`, the same codes as in a serial read. Returns the number of
  // records. Returns 0, and consumes nothing, if there are few records, or one is malformed or,
  // with `needs_utf8`, has a string that is not UTF-8.
  int64_t read(std::string_view text,
               int64_t n,
               int64_t first,
               bool needs_utf8,
               CsvRows& rows,
               const Dictionaries& words);
  const CsvReader::Taken& taken() const { return taken_; }
  // The number of records in the last failed attempt.
  int64_t num_failed_records() const { return num_failed_records_; }

 private:
  struct Chunk {
    explicit Chunk(const CsvFormat& format) : splitter(format) {}
    std::string_view text;
    int64_t first = 0, rows = 0;  // relative to the first row of the block
    int64_t lines = 0, last_lines = 0;
    CsvSplitter splitter;
    std::deque<std::string> copies;  // strings that the splitter had to assemble
  };
  int64_t split_chunk(std::string_view text, int64_t n);
  void add_chunk(std::string_view text, int64_t first, int64_t rows);
  bool read_chunk(Chunk& chunk, int64_t first, CsvRows& rows);
  bool read_record(Chunk& chunk, int64_t row, int64_t place, CsvRows& rows);
  void code_column(size_t j, int64_t n, int64_t first, CsvRows& rows, const Dictionaries& words);

  const CsvColumns& columns_;
  std::vector<size_t> string_columns_;
  std::vector<std::vector<std::string_view>> words_;  // one vector per string column
  std::deque<Chunk> chunks_;                          // reused, to keep their memory
  size_t num_chunks_ = 0;
  std::atomic<bool> is_invalid_{false};
  CsvReader::Taken taken_;
  bool needs_utf8_ = false;
  int64_t num_failed_records_ = 0;
};

}  // namespace runhooks
