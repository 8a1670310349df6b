// Reads the records of TFRecord files.
#include "data/file_source.h"
#include "io/files/record.h"

namespace runhooks {

namespace {

class TFRecords : public StringRecords {
 public:
  TFRecords(const ByteSource& source, Compression compression) : reader_(source, compression) {}
  bool next() override {
    try {
      if (!reader_.next(data_)) return false;
    } catch (const Error& error) {
      if (error.code() != Code::kDataLoss) throw;
      fail(Code::kDataLoss, "Record ", num_read_ + 1, " of '", reader_.path(),
           "' cannot be read: ", error.message());
    }
    ++num_read_;
    return true;
  }
  bool skip() override {
    ++num_read_;
    return reader_.skip();
  }
  const std::string& text() const override { return data_; }
  FilePosition position() const override {
    FilePosition position;
    position.offset = reader_.offset();
    position.records = num_read_;
    return position;
  }
  void seek(const FilePosition& position) override {
    reader_.seek(position.offset);
    num_read_ = position.records;
  }

 private:
  RecordReader reader_;
  std::string data_;
  int64_t num_read_ = 0;
};

class TFRecordDataset : public FileSource {
 public:
  using FileSource::FileSource;
  std::unique_ptr<FileRecords> open(const ByteSource& source) const override {
    return std::make_unique<TFRecords>(source, compression());
  }
  const char* unit() const override { return "record"; }
};

// To read several files in parallel, the R function interleaves datasets of this class.
RUNHOOKS_REGISTER_DATASET(TFRecordDataset,
                          "",
                          {"filenames: any. Paths of the files.",
                           "compression_type = NULL: string. Compression of the files.",
                           "on_error = \"stop\": string. What to do about an invalid record.",
                           RUNHOOKS_STREAM_ARGUMENT},
                          "Read the records of TFRecord files.");

}  // namespace

}  // namespace runhooks
