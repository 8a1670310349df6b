// What lives here: what datasets of the records of files share: where one stands, what is ill.
// Who may use it: data.
// What it must not know: the formats of files, R.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/data_fingerprint.h"
#include "data/one_input_dataset.h"
#include "io/files/zlib_stream.h"

namespace runhooks {

// Behind a record of a file.
struct FilePosition {
  uint64_t offset = 0;  // in the decompressed file
  int64_t records = 0;  // so many lie before it
  int64_t lines = 0;
};

// The records of one file, one after the other.
class FileRecords {
 public:
  virtual ~FileRecords() = default;
  // Reads the next record; FALSE at the end. An error says what is ill, and where in the file.
  virtual bool next() = 0;
  // After an error: to the record behind the ill one; FALSE where it cannot be found.
  virtual bool skip() = 0;
  // The record as an element; an error is one of the record, too.
  virtual void put(ElementSink& sink) = 0;
  virtual FilePosition place() const = 0;
  virtual void seek(const FilePosition& place) = 0;
};

// Records that are a string each.
class StringRecords : public FileRecords {
 public:
  // Of the record, until there is another one.
  virtual const std::string& text() const = 0;
  void put(ElementSink& sink) override { sink.put(0, Tensor::string_scalar(text())); }
};

class FileSource : public Dataset {
 public:
  explicit FileSource(const Args& args);
  // StringRecords, where a kind does not say otherwise.
  std::vector<DType> dtypes() const override { return {DType::kString}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;

  void add_content(DataFingerprint& content) const override { contents_.add_to(content, files_); }
  bool reads_files() const override { return true; }
  std::shared_ptr<const Dataset> shard_by_file(int64_t readers, int64_t reader) const override;

  virtual std::unique_ptr<FileRecords> open(const ByteSource& source) const = 0;
  // What a record is called: "line", "record".
  virtual const char* unit() const = 0;
  const std::vector<std::string>& files() const { return files_; }
  Compression compression() const { return compression_; }
  bool skips_errors() const { return skips_errors_; }
  bool takes_streams() const { return takes_streams_; }

 private:
  bool identifies_data(const std::string& argument) const override { return argument == "filenames"; }

  std::vector<std::string> files_;
  FileFingerprints contents_;
  Compression compression_ = Compression::kNone;
  bool skips_errors_ = false, takes_streams_ = false;
};

#define RUNHOOKS_STREAM_ARGUMENT \
  "stream = FALSE: flag. Whether files may be pipes and devices, which are read as bytes come."

// Goes through the records of all files. Where the dataset skips errors they are counted, and told
// at the end of a file.
class FileCursor {
 public:
  explicit FileCursor(const FileSource& source) : source_(source) {}
  // Gives each record to `use`, which may fail as it does, until it has taken one; FALSE behind the
  // last file.
  template <typename Use>
  bool next(Use use) {
    while (open_next()) {
      try {
        if (records_->next()) {
          use(*records_);
          return true;
        }
        close();
      } catch (const Error& error) {
        skip_record(error);
      }
    }
    return false;
  }
  // Those of the file that is open; NULL where none is.
  FileRecords* records() const { return records_.get(); }
  // "Line 3 of 'a.csv'", of the last record.
  std::string last() const;
  void rewind();
  NamedTensors save() const;
  // Another file than that which was read is refused: by its size and the bytes at both ends.
  void restore(const NamedTensors& state);

 private:
  bool open_next();
  void open();
  void close();
  void skip_record(const Error& error);
  void log_skipped();
  [[noreturn]] void throw_stream(const char* why) const;

  const FileSource& source_;
  std::unique_ptr<FileRecords> records_;  // of the file that is open
  size_t file_ = 0;
  uint64_t size_ = 0, fingerprint_ = 0;
  int64_t skipped_ = 0;
  std::string first_skipped_;
  bool is_stream_ = false;          // the file that is open
  std::vector<bool> are_streamed_;  // by file; each can be read once
};

// Gives records as elements.
class FileIterator : public DatasetIterator {
 public:
  explicit FileIterator(std::shared_ptr<const FileSource> source)
      : source_(std::move(source)), cursor_(*source_) {}
  bool next(ElementSink& sink) override;
  void rewind() override { cursor_.rewind(); }
  NamedTensors save() const override;
  void restore(const NamedTensors& state) override;
  int64_t rows_seen() const override { return rows_seen_; }
  std::string place() const override { return cursor_.last(); }

 protected:
  std::shared_ptr<const FileSource> source_;
  FileCursor cursor_;
  int64_t rows_seen_ = 0;
};

}  // namespace runhooks
