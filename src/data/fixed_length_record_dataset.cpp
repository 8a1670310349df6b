// Reads records of a fixed length.
#include <algorithm>

#include "data/file_source.h"
#include "io/files/atomic_file.h"
#include "io/files/buffered_bytes.h"

namespace runhooks {

namespace {

struct RecordFormat {
  uint64_t header, record, footer;
};

class SeekableRecords : public StringRecords {
 public:
  SeekableRecords(const std::string& path, const RecordFormat& format)
      : file_(path), format_(format) {
    const uint64_t frame_size = format.header + format.footer;
    const uint64_t body = file_.size() >= frame_size ? file_.size() - frame_size : 0;
    if (file_.size() < frame_size || body % format.record != 0) {
      invalid_argument("Excluding the header (", format.header, " bytes) and footer (",
                       format.footer, " bytes), input file '", path, "' has body length ",
                       file_.size() >= frame_size ? str_cat(body) : "below 0",
                       " bytes, which is not an exact multiple of the record length (",
                       format.record, " bytes).");
    }
    num_records_ = static_cast<int64_t>(body / format.record);
  }
  bool next() override {
    if (num_read_ == num_records_) return false;
    const uint64_t offset = format_.header + static_cast<uint64_t>(num_read_) * format_.record;
    data_.resize(static_cast<size_t>(format_.record));
    if (file_.read_at(offset, data_.data(), data_.size()) < data_.size()) {
      fail(Code::kDataLoss, "Record ", num_read_ + 1, " of '", file_.path(),
           "' is truncated: the file has become shorter.");
    }
    ++num_read_;
    return true;
  }
  bool skip() override { return false; }
  const std::string& text() const override { return data_; }
  FilePosition position() const override {
    FilePosition position;
    position.records = num_read_;
    return position;
  }
  void seek(const FilePosition& position) override {
    if (position.records > num_records_) {
      fail(Code::kDataLoss, "Invalid saved record number ", position.records, " in '", file_.path(),
           "'.");
    }
    num_read_ = position.records;
  }

 private:
  InputFile file_;
  RecordFormat format_;
  std::string data_;
  int64_t num_read_ = 0, num_records_ = 0;
};

// Records of a stream, whose length is unknown. The next bytes are a record only if the stream has
// enough bytes for it and for a footer.
class StreamedRecords : public StringRecords {
 public:
  StreamedRecords(const ByteSource& source, const RecordFormat& format)
      : bytes_(source, Compression::kNone), format_(format) {}
  bool next() override {
    if (!has_skipped_header_ && !has_bytes(format_.header + format_.footer)) throw_invalid_length();
    if (!has_skipped_header_) bytes_.take(static_cast<size_t>(format_.header));
    has_skipped_header_ = true;
    if (!has_bytes(format_.record + format_.footer)) {
      if (bytes_.view().size() != format_.footer) throw_invalid_length();
      return false;
    }
    data_.assign(bytes_.view().substr(0, static_cast<size_t>(format_.record)));
    bytes_.take(data_.size());
    ++num_records_;
    return true;
  }
  bool skip() override { return false; }
  const std::string& text() const override { return data_; }
  FilePosition position() const override {
    FilePosition position;
    position.records = num_records_;
    return position;
  }
  void seek(const FilePosition&) override {
    fail(Code::kFailedPrecondition, "'", bytes_.path(),
         "' is a stream: its position cannot be restored.");
  }

 private:
  bool has_bytes(uint64_t size) {
    while (bytes_.view().size() < size) {
      if (!bytes_.read_more()) return false;
    }
    return true;
  }
  [[noreturn]] void throw_invalid_length() const {
    invalid_argument("After ", num_records_, " records of ", format_.record, " bytes '",
                     bytes_.path(), "' ends with ", static_cast<uint64_t>(bytes_.view().size()),
                     " bytes, which are not a footer of ", format_.footer, " bytes",
                     has_skipped_header_ ? "" : str_cat(" after a header of ", format_.header),
                     ".");
  }

  BufferedBytes bytes_;
  RecordFormat format_;
  std::string data_;
  int64_t num_records_ = 0;
  bool has_skipped_header_ = false;
};

class FixedLengthRecordDataset : public FileSource {
 public:
  explicit FixedLengthRecordDataset(const Args& args) : FileSource(args) {
    constexpr int64_t kMaxBytes = int64_t{1} << 31;
    const int64_t record = args.integer("record_bytes"), header = args.integer("header_bytes", 0),
                  footer = args.integer("footer_bytes", 0);
    if (std::max({record, header, footer}) > kMaxBytes) {
      invalid_argument("The sizes of ", args.owner(), " must not be above ", kMaxBytes, " bytes.");
    }
    format_ = {static_cast<uint64_t>(header), static_cast<uint64_t>(record),
               static_cast<uint64_t>(footer)};
  }
  std::unique_ptr<FileRecords> open(const ByteSource& source) const override {
    if (source.is_stream) return std::make_unique<StreamedRecords>(source, format_);
    return std::make_unique<SeekableRecords>(source.path, format_);
  }
  const char* unit() const override { return "record"; }

 private:
  RecordFormat format_;
};

// The R function also has an argument `buffer_size`, which it only checks.
RUNHOOKS_REGISTER_DATASET(
    FixedLengthRecordDataset,
    "",
    {"filenames: any. Paths of the files.",
     "record_bytes: number in [1, Inf). Length of a record in bytes.",
     "header_bytes = NULL: number in [0, Inf). Bytes to skip at the start of each file.",
     "footer_bytes = NULL: number in [0, Inf). Bytes to skip at the end of each file.",
     RUNHOOKS_STREAM_ARGUMENT},
    "Read records of a fixed length.");

}  // namespace

}  // namespace runhooks
