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

// Buffer for the values of records, stored column by column.
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

// Splits the text at line ends into chunks, which threads parse in parallel. A line end may be part
// of a quoted field, so each chunk must turn out to consist of whole records. Otherwise, or if a
// record is malformed, the caller reads the records one by one.
class CsvBlock {
 public:
  using Dictionaries = std::vector<std::shared_ptr<StringDictionary>>;
  explicit CsvBlock(const CsvColumns& columns);

  // Parses up to `n` records from the start of `text` into `rows`, starting at row `first`.
  // Strings become codes of `dictionaries`, the same codes as in a serial read. Returns the number
  // of records. Returns 0, and consumes nothing, if there are few records or one is malformed. With
  // `needs_utf8`, a string that is not UTF-8 counts as malformed.
  int64_t read(std::string_view text,
               int64_t n,
               int64_t first,
               bool needs_utf8,
               CsvRows& rows,
               const Dictionaries& dictionaries);
  // The text and lines that the last successful read() consumed.
  const CsvReader::ConsumedRecords& taken() const { return taken_; }
  // The number of records in the block if the last read() failed, else 0.
  int64_t num_failed_records() const { return num_failed_records_; }

 private:
  struct Chunk {
    explicit Chunk(const CsvFormat& format) : splitter(format) {}
    std::string_view text;
    int64_t first = 0, rows = 0;  // number of the first row within the block, and count of rows
    int64_t lines = 0, last_lines = 0;
    CsvSplitter splitter;
    std::deque<std::string> copies;  // strings that the splitter had to assemble
  };
  int64_t split_into_chunks(std::string_view text, int64_t n);
  void add_chunk(std::string_view text, int64_t first, int64_t rows);
  bool read_chunk(Chunk& chunk, int64_t first, CsvRows& rows);
  bool read_record(Chunk& chunk, int64_t row, int64_t target_row, CsvRows& rows);
  void encode_column(
      size_t j, int64_t n, int64_t first, CsvRows& rows, const Dictionaries& dictionaries);

  const CsvColumns& columns_;
  std::vector<size_t> string_columns_;
  std::vector<std::vector<std::string_view>> strings_;  // one vector per string column
  std::deque<Chunk> chunks_;                            // reused, to keep their memory
  size_t num_chunks_ = 0;
  std::atomic<bool> is_invalid_{false};
  CsvReader::ConsumedRecords taken_;
  bool needs_utf8_ = false;
  int64_t num_failed_records_ = 0;
};

}  // namespace runhooks
