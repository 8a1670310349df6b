// Splits CSV text into records and fields, and parses fields as numbers.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/buffered_bytes.h"

namespace runhooks {

struct CsvFormat {
  char delim = ',';
  bool has_quotes = true;
};

enum class CsvSplit {
  kRecord,
  kIncompleteRecord,      // the text ends inside the record
  kStrayQuote,  // a quote inside an unquoted field
  kTextAfterQuote   // other text after a closing quote
};

// Splits the first record of a text, as RFC 4180 and TensorFlow do. A quoted field may contain any
// character; quotes inside it are doubled. A record ends with \n, \r\n or \r.
class CsvSplitter {
 public:
  explicit CsvSplitter(const CsvFormat& format) : format_(format) {}
  // `is_end_of_file`: the file ends after `text`, so the end of the text ends the record.
  CsvSplit split(std::string_view text, bool is_end_of_file);

  const std::vector<std::string_view>& fields() const { return fields_; }
  size_t size() const { return size_; }  // bytes of the record, including its end
  int64_t lines() const {
    return lines_;
  }  // number of lines of the record; quoted fields can contain line ends
  // Number of fields split so far; for errors, the zero-based index of the invalid field.
  size_t field_number() const { return fields_.size(); }

 private:
  CsvSplit split_quoted_field(std::string_view text, bool is_end_of_file);
  CsvSplit end_record(std::string_view text, bool is_end_of_file);

  CsvFormat format_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // unescaped fields; a deque, because views point to them
  size_t num_unescaped_ = 0, size_ = 0;
  int64_t lines_ = 0;
};

// Splits a text into chunks of complete lines, for parsing in parallel. Line ends inside quotes do
// not count.
class CsvChunker {
 public:
  CsvChunker(std::string_view text, const CsvFormat& format) : text_(text), format_(format) {}
  // Sets `*lines` to the next lines, about `bytes` long and at most `n` of them. Returns their
  // number, or 0 if the text has no further complete line.
  int64_t next(size_t bytes, int64_t n, std::string_view* lines);

 private:
  std::string_view text_;
  CsvFormat format_;
};

// Reads the records of a file. An empty line has one empty field, as in TensorFlow.
class CsvReader {
 public:
  CsvReader(const ByteSource& source, Compression compression, const CsvFormat& format);
  // Reads a record; FALSE at the end. Invalid quotes throw kDataLoss with file and line.
  bool next();
  void skip_lines(int64_t n);
  // Continues after an error. Skips the record if only the value of a field was invalid, otherwise
  // the first line of the record. Returns FALSE at the end of the file.
  bool skip();
  const std::vector<std::string_view>& fields() const { return splitter_.fields(); }
  const std::string& path() const { return bytes_.path(); }
  int64_t line() const { return line_; }    // the line on which the last record starts, from 1
  int64_t lines() const { return lines_; }  // number of lines read so far
  uint64_t offset() const { return bytes_.offset(); }
  // Buffered bytes after the last record.
  std::string_view view() const { return bytes_.view(); }
  // The size of some records at the start of view(), which the caller has split itself.
  struct ConsumedRecords {
    size_t bytes = 0;
    int64_t lines = 0;       // number of lines of all these records
    int64_t last_lines = 0;  // number of lines of the last of them
  };
  // Makes next() continue after these records.
  void take(const ConsumedRecords& taken) {
    bytes_.take(taken.bytes);
    lines_ += taken.lines;
    line_ = lines_ - taken.last_lines + 1;
  }
  void seek(uint64_t offset, int64_t lines);

 private:
  [[noreturn]] void throw_quotes(CsvSplit split);

  BufferedBytes bytes_;
  CsvSplitter splitter_;
  int64_t line_ = 0, lines_ = 0;
};

// Parses a number, ignoring spaces around it; FALSE if the field is not a number.
bool parse_field(std::string_view field, int32_t* value);
bool parse_field(std::string_view field, int64_t* value);
bool parse_field(std::string_view field, float* value);
bool parse_field(std::string_view field, double* value);

}  // namespace runhooks
