// Common base of datasets that read records from files: positions, sharding and bad records.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/data_fingerprint.h"
#include "data/one_input_dataset.h"
#include "io/files/zlib_stream.h"

namespace runhooks {

// The position after the last record that was read.
struct FilePosition {
  uint64_t offset = 0;  // in the decompressed file
  int64_t records = 0;  // number of preceding records
  int64_t lines = 0;
};

// Reads the records of one file.
class FileRecords {
 public:
  virtual ~FileRecords() = default;
  // Reads the next record; returns false at the end of the file.
  virtual bool next() = 0;
  // After an error, skips the rest of the bad record. Returns false if the start of the next record
  // cannot be found.
  virtual bool skip() = 0;
  // Emits the record as an element. If it throws, the record is bad.
  virtual void put(ElementSink& sink) = 0;
  virtual FilePosition position() const = 0;
  virtual void seek(const FilePosition& position) = 0;
};

// Warns of a string that is not valid UTF-8. `location` is, for example, "Line 3 of 'a.csv'".
void warn_invalid_utf8(const std::string& location);

// Records that consist of one string.
class StringRecords : public FileRecords {
 public:
  // The current record; valid until the next one is read.
  virtual const std::string& text() const = 0;
  // Called before the text is used; throws if the record is bad.
  virtual void check_text() {}
  void put(ElementSink& sink) override {
    check_text();
    sink.put(0, Tensor::string_scalar(text()));
  }
};

class FileSource : public Dataset {
 public:
  explicit FileSource(const Args& args);
  // By default, each record is one string.
  std::vector<DType> dtypes() const override { return {DType::kString}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;

  void add_data_to(DataFingerprint& fingerprint) const override {
    fingerprints_.add_files_to(fingerprint, files_);
  }
  bool reads_files() const override { return true; }
  std::shared_ptr<const Dataset> shard_by_file(int64_t readers, int64_t reader) const override;

  virtual std::unique_ptr<FileRecords> open(const ByteSource& source) const = 0;
  // Returns the name of a record in messages: "line" or "record".
  virtual const char* unit() const = 0;
  const std::vector<std::string>& files() const { return files_; }
  Compression compression() const { return compression_; }
  bool skips_errors() const { return skips_errors_; }
  bool accepts_streams() const { return accepts_streams_; }

 private:
  bool identifies_data(const std::string& argument) const override {
    return argument == "filenames";
  }

  std::vector<std::string> files_;
  FileFingerprints fingerprints_;
  Compression compression_ = Compression::kNone;
  bool skips_errors_ = false, accepts_streams_ = false;
};

#define RUNHOOKS_STREAM_ARGUMENT \
  "stream = FALSE: flag. Whether files may be pipes or devices, which are read as a stream."

// Iterates over the records of all files. If the dataset skips errors, logs their count at the end
// of each file.
class FileCursor {
 public:
  explicit FileCursor(const FileSource& source) : source_(source) {}
  // Passes the next record to `use`; returns false after the last file. If reading or `use` throws,
  // the record is bad. Bad records are skipped if the dataset skips errors.
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
  // The records of the open file, or NULL.
  FileRecords* records() const { return records_.get(); }
  // The location of the last record, such as "Line 3 of 'a.csv'".
  std::string location() const;
  void rewind();
  NamedTensors save() const;
  // Throws if the size or the fingerprint of the file has changed.
  void restore(const NamedTensors& state);

 private:
  bool open_next();
  void open();
  void close();
  void skip_record(const Error& error);
  void log_skipped();
  [[noreturn]] void throw_stream_error(const char* reason) const;

  const FileSource& source_;
  std::unique_ptr<FileRecords> records_;  // records of the open file; NULL without an open file
  size_t file_index_ = 0;
  uint64_t size_ = 0, fingerprint_ = 0;
  int64_t num_skipped_ = 0;
  std::string first_skip_error_;
  bool is_stream_ = false;          // whether the open file is a pipe or device
  std::vector<bool> was_streamed_;  // per file: whether it was a stream, readable only once
};

// Emits records as elements.
class FileIterator : public DatasetIterator {
 public:
  explicit FileIterator(std::shared_ptr<const FileSource> source)
      : source_(std::move(source)), cursor_(*source_) {}
  bool next(ElementSink& sink) override;
  void rewind() override { cursor_.rewind(); }
  NamedTensors save() const override;
  void restore(const NamedTensors& state) override;
  int64_t rows_seen() const override { return rows_seen_; }
  std::string location() const override { return cursor_.location(); }

 protected:
  std::shared_ptr<const FileSource> source_;
  FileCursor cursor_;
  int64_t rows_seen_ = 0;
};

}  // namespace runhooks
