// Reads the lines of text files.
#include <utility>

#include "base/unicode.h"
#include "data/file_source.h"
#include "data/text_decoder.h"
#include "io/files/buffered_bytes.h"

namespace runhooks {

namespace {

class TextLineRecords : public StringRecords {
 public:
  TextLineRecords(const ByteSource& source,
                  Compression compression,
                  const TextDecoder& decoder,
                  int64_t skip)
      : bytes_(source, compression), decoder_(decoder), path_(source.path) {
    bytes_.skip_byte_order_mark();
    while (position_.lines < skip && next()) {
    }
    position_.records = 0;
  }
  bool next() override {
    if (!next_line(bytes_, &line_)) return false;
    ++position_.lines;
    ++position_.records;
    return true;
  }
  // Returns true if the next line can be read: after a line that is invalid in its encoding, but
  // not after an error in a compressed file.
  bool skip() override { return std::exchange(is_invalid_, false); }
  const std::string& text() const override { return line_; }
  void check_text() override {
    std::string_view text = line_;
    is_invalid_ = !decoder_.decode(&text, &decoded_);
    if (is_invalid_) decoder_.throw_invalid(location(), text);
    if (text.data() != line_.data()) line_ = decoded_;
    if (has_warned_ || is_utf8(line_)) return;
    has_warned_ = true;
    warn_invalid_utf8(location());
  }
  FilePosition position() const override {
    FilePosition position = position_;
    position.offset = bytes_.offset();
    return position;
  }
  void seek(const FilePosition& position) override {
    bytes_.seek(position.offset);
    position_ = position;
  }

 private:
  std::string location() const { return str_cat("Line ", position_.lines, " of '", path_, "'"); }

  BufferedBytes bytes_;
  const TextDecoder& decoder_;
  FilePosition position_;
  std::string path_, line_, decoded_;
  bool has_warned_ = false, is_invalid_ = false;
};

class TextLineDataset : public FileSource {
 public:
  explicit TextLineDataset(const Args& args)
      : FileSource(args), decoder_(args), skip_(args.integer("skip", 0)) {}
  std::unique_ptr<FileRecords> open(const ByteSource& source) const override {
    return std::make_unique<TextLineRecords>(source, compression(), decoder_, skip_);
  }
  const char* unit() const override { return "line"; }

 private:
  TextDecoder decoder_;
  int64_t skip_;
};

// If the user passes a record specification, the R function creates a CsvDataset instead.
RUNHOOKS_REGISTER_DATASET(
    TextLineDataset,
    "",
    {"filenames: any. Paths of the files.",
     "compression_type = NULL: string. Compression of the files.",
     "skip = 0: number in [0, Inf). Number of lines to skip at the start of each file.",
     "on_error = \"stop\": string. What to do about an invalid line.", RUNHOOKS_STREAM_ARGUMENT,
     RUNHOOKS_ENCODING_ARGUMENTS},
    "Read the lines of text files.");

}  // namespace

}  // namespace runhooks
