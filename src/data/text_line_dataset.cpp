// Reads the lines of text files.
#include "base/unicode.h"
#include "data/file_source.h"
#include "io/files/buffered_bytes.h"

namespace runhooks {

namespace {

class Lines : public StringRecords {
 public:
  Lines(const ByteSource& source, Compression compression, int64_t skip)
      : bytes_(source, compression), path_(source.path) {
    bytes_.begin_text();
    while (place_.lines < skip && next()) {
    }
    place_.records = 0;
  }
  bool next() override {
    if (!next_line(bytes_, &line_)) return false;
    ++place_.lines;
    ++place_.records;
    return true;
  }
  // Only a damaged compressed file causes errors, and nothing can be read after one.
  bool skip() override { return false; }
  const std::string& text() const override { return line_; }
  void check_text() override {
    if (has_warned_ || is_utf8(line_)) return;
    has_warned_ = true;
    warn_of_encoding(str_cat("Line ", place_.lines, " of '", path_, "'"));
  }
  FilePosition place() const override {
    FilePosition place = place_;
    place.offset = bytes_.offset();
    return place;
  }
  void seek(const FilePosition& place) override {
    bytes_.seek(place.offset);
    place_ = place;
  }

 private:
  BufferedBytes bytes_;
  FilePosition place_;
  std::string path_, line_;
  bool has_warned_ = false;
};

class TextLineDataset : public FileSource {
 public:
  explicit TextLineDataset(const Args& args) : FileSource(args), skip_(args.integer("skip", 0)) {}
  std::unique_ptr<FileRecords> open(const ByteSource& source) const override {
    return std::make_unique<Lines>(source, compression(), skip_);
  }
  const char* unit() const override { return "line"; }

 private:
  int64_t skip_;
};

// For a record specification, the R function creates a CsvDataset instead.
RUNHOOKS_REGISTER_DATASET(
    "TextLineDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<TextLineDataset>(args);
    },
    "",
    {"filenames: any. Paths of the files.",
     "compression_type = NULL: string. Compression of the files.",
     "skip = 0: number in [0, Inf). Number of lines to skip at the start of each file.",
     "on_error = \"stop\": string. What to do about an invalid line.", RUNHOOKS_STREAM_ARGUMENT},
    "Read the lines of text files.");

}  // namespace

}  // namespace runhooks
