// TFRecord files: a writer, and a reader that checks every record.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/zlib_stream.h"

namespace runhooks {

// One record as it stands in a file: length, checksum, data, checksum.
void append_record(std::string& out, std::string_view data);

class RecordWriter {
 public:
  // kReplace: the file stands there when close() is called, and without it the old one does
  // (AtomicFile). kNew: there must be none, and what is written stands there at once. kBehind: the
  // same for one that this process has written, behind its records.
  enum class Mode { kReplace, kNew, kBehind };
  explicit RecordWriter(const std::string& path,
                        Compression compression = Compression::kNone,
                        Mode mode = Mode::kReplace);

  const std::string& path() const;
  bool is_open() const { return file().is_open(); }
  void write(std::string_view data) { write_parts({data}); }
  // A record of bytes that come in parts.
  void write_parts(const std::vector<std::string_view>& parts);
  void flush();
  // Completes the file.
  void close();
  // Completes a new file, too, but silently.
  ~RecordWriter();

 private:
  OutputFile& file() { return whole_ ? whole_->output() : *new_; }
  const OutputFile& file() const { return const_cast<RecordWriter*>(this)->file(); }

  std::optional<AtomicFile> whole_;
  std::optional<OutputFile> new_;
  std::optional<CompressedOutput> output_;
};

class RecordReader {
 public:
  // kTruncated: the file ends inside a record, as it does while it is written or after a crash.
  enum class Result { kRecord, kEnd, kTruncated };

  explicit RecordReader(const ByteSource& source, Compression compression = Compression::kNone)
      : stream_(source, compression) {}

  // The next record. One that is there but damaged is a kDataLoss error that names file and offset.
  Result read(std::string& data);
  // The same where a truncated file is an error too; FALSE at the end.
  bool next(std::string& data);
  // Leaves the next record out, which is damaged; FALSE where nothing can be found behind it. Of a
  // stream nothing is left where its length is.
  bool skip();

  const std::string& path() const { return stream_.path(); }
  // Where the next record begins; a place to come back to.
  uint64_t offset() const { return offset_; }
  void seek(uint64_t offset);

 private:
  Result read_header(uint64_t* length);
  Result read_data(uint64_t length, std::string& data);
  [[noreturn]] void corrupted(const char* what) const;

  ByteStream stream_;
  uint64_t offset_ = 0;
  uint64_t behind_ = 0;  // the record that was read whole last
};

// All records of a file; a truncated one at the end is left out, and *truncated tells.
std::vector<std::string> read_records(const std::string& path,
                                      bool* truncated = nullptr,
                                      Compression compression = Compression::kNone);

}  // namespace runhooks
