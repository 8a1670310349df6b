// TFRecord files: a writer, and a reader that verifies checksums.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/zlib_stream.h"

namespace runhooks {

// Sizes of the length and its checksum before the data, and of the checksum after the data.
constexpr size_t kRecordHeaderSize = 12, kRecordFooterSize = 4;

// Reads the length of the data from the header of a record; FALSE if the checksum is wrong.
bool parse_record_header(const char* header, uint64_t* length);
// Appends the record, with length and checksums, to a buffer.
void append_record(std::string& out, std::string_view data);

class RecordWriter {
 public:
  // kReplace: writes an AtomicFile, which close() commits. kNew: creates the file directly and
  // fails if it exists. kAppend: appends to a file that this process has written.
  enum class Mode { kReplace, kNew, kAppend };
  explicit RecordWriter(const std::string& path,
                        Compression compression = Compression::kNone,
                        Mode mode = Mode::kReplace);

  const std::string& path() const;
  bool is_open() const { return file().is_open(); }
  void write(std::string_view data) { write_parts({data}); }
  // Writes one record, whose data are the concatenated parts.
  void write_parts(const std::vector<std::string_view>& parts);
  void flush();
  void close();
  // Closes a file of mode kNew or kAppend and ignores errors. With kReplace, discards the new file.
  ~RecordWriter();

 private:
  OutputFile& file() { return atomic_file_ ? atomic_file_->output() : *plain_file_; }
  const OutputFile& file() const { return const_cast<RecordWriter*>(this)->file(); }

  std::optional<AtomicFile> atomic_file_;
  std::optional<OutputFile> plain_file_;
  std::optional<CompressedOutput> output_;
};

class RecordReader {
 public:
  // kTruncated: the file ends inside a record, because of a crash or because it is being written.
  enum class Result { kRecord, kEnd, kTruncated };

  explicit RecordReader(const ByteSource& source, Compression compression = Compression::kNone)
      : stream_(source, compression) {}

  // Reads the next record. A damaged record throws kDataLoss with file and offset.
  Result read(std::string& data);
  // Like read(), but throws for a truncated file and returns FALSE at the end.
  bool next(std::string& data);
  // Skips a damaged record; FALSE if the next record cannot be located, as after a damaged length.
  bool skip();

  const std::string& path() const { return stream_.path(); }
  uint64_t offset() const { return offset_; }
  void seek(uint64_t offset);

 private:
  Result read_header(uint64_t* length);
  Result read_data(uint64_t length, std::string& data);
  [[noreturn]] void throw_checksum_mismatch(const char* part) const;

  ByteStream stream_;
  uint64_t offset_ = 0;
  uint64_t end_of_last_read_ = 0;  // end of the last record read in full
};

// Returns all records of a file. Drops a truncated record at the end and sets `*truncated`.
std::vector<std::string> read_records(const std::string& path,
                                      bool* truncated = nullptr,
                                      Compression compression = Compression::kNone);

}  // namespace runhooks
