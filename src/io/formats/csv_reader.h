// Records of comma separated values: split into fields, and fields read as numbers.
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

// How a record was split, or where that went wrong.
enum class CsvSplit {
  kRecord,
  kCutOff,      // the text ends within the record
  kStrayQuote,  // a quote within a field that does not begin with one
  kAfterQuote   // something between a closing quote and the end of its field
};

// Splits the first record of a text as RFC 4180 and TensorFlow do: fields between delimiters, those
// that begin with a quote end with one and may hold anything, quotes twice. A record ends with \n,
// \r\n or \r.
class CsvSplitter {
 public:
  explicit CsvSplitter(const CsvFormat& format) : format_(format) {}
  // `is_all`: nothing follows the text, so that its end is one of the record.
  CsvSplit split(std::string_view text, bool is_all);

  // Valid as long as the text is.
  const std::vector<std::string_view>& fields() const { return fields_; }
  size_t size() const { return size_; }     // of the record with its end
  int64_t lines() const { return lines_; }  // that it takes
  // Where the record, or what is wrong with it, stands: the number of the field, from 0.
  size_t field_number() const { return fields_.size(); }

 private:
  bool quoted(std::string_view text, bool is_all, CsvSplit* result);
  bool end_of_record(std::string_view text, bool is_all, CsvSplit* result);

  CsvFormat format_;
  std::vector<std::string_view> fields_;
  std::deque<std::string> unescaped_;  // fields with quotes twice; they must not move
  size_t unescaped_used_ = 0, size_ = 0;
  int64_t lines_ = 0;
};

// Cuts a text where lines end that are not within quotes, which is where records end as long as
// nothing is wrong with them.
class CsvCutter {
 public:
  CsvCutter(std::string_view text, const CsvFormat& format) : text_(text), format_(format) {}
  // The next lines, up to `n`, that have some `bytes` together; returns how many. 0: the text has
  // no whole line more.
  int64_t next(size_t bytes, int64_t n, std::string_view* lines);

 private:
  int64_t take(size_t end, int64_t lines, std::string_view* taken);

  std::string_view text_;  // what is left of it
  CsvFormat format_;
};

// The records of a file. A line without anything has one empty field, as in TensorFlow.
class CsvReader {
 public:
  CsvReader(const ByteSource& source, Compression compression, const CsvFormat& format);
  // FALSE at the end of the file. Broken quotes are kDataLoss, and name file and line.
  bool next();
  // Leaves the next lines out, whatever stands there.
  void skip_lines(int64_t n);
  // After an error: to the line behind that on which the record begins.
  bool skip();
  const std::vector<std::string_view>& fields() const { return splitter_.fields(); }
  const std::string& path() const { return bytes_.path(); }
  int64_t line() const { return line_; }    // on which the last record begins, from 1
  int64_t lines() const { return lines_; }  // that have been read
  uint64_t offset() const { return bytes_.offset(); }
  // What of the file has been read and lies behind the last record.
  std::string_view view() const { return bytes_.view(); }
  // Somebody else has split the records at its beginning.
  struct Taken {
    size_t bytes = 0;
    int64_t lines = 0, last_lines = 0;  // of all records, of the last one
  };
  void take(const Taken& taken) {
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

// A field as a number; FALSE where it is none. Spaces around it do not count.
bool parse_field(std::string_view field, int32_t* value);
bool parse_field(std::string_view field, int64_t* value);
bool parse_field(std::string_view field, float* value);
bool parse_field(std::string_view field, double* value);

}  // namespace runhooks
