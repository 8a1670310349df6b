// Reads records from files of delimited text.
#include <algorithm>
#include <cstring>

#include "data/csv_block.h"
#include "data/file_source.h"

namespace runhooks {

namespace {

class CsvDataset : public FileSource {
 public:
  explicit CsvDataset(const Args& args)
      : FileSource(args),
        columns_(args),
        skip_(args.integer("skip", 0)),
        header_(args.texts("header")),
        has_header_(args.flag("has_header", false)) {}
  std::vector<DType> dtypes() const override { return columns_.dtypes(); }
  std::vector<Shape> shapes() const override {
    return std::vector<Shape>(columns_.columns().size());
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  std::unique_ptr<FileRecords> open(const ByteSource& source) const override;
  const char* unit() const override { return "record"; }

  const CsvColumns& columns() const { return columns_; }
  int64_t skip() const { return skip_; }
  bool has_header() const { return has_header_; }
  const std::vector<std::string>& header() const { return header_; }

 private:
  CsvColumns columns_;
  int64_t skip_;
  std::vector<std::string> header_;  // expected content; empty accepts anything
  bool has_header_;
};

class CsvRecords : public FileRecords {
 public:
  CsvRecords(const CsvDataset& dataset, const ByteSource& source)
      : dataset_(dataset),
        reader_(source, dataset.compression(), dataset.columns().format()),
        dictionaries_(dataset.columns().columns().size()) {
    reader_.skip_lines(dataset.skip());
    if (dataset.has_header() && reader_.next()) check_header();
  }
  bool next() override {
    if (!reader_.next()) return false;
    ++records_;
    return true;
  }
  bool skip() override { return reader_.skip(); }
  void put(ElementSink& sink) override {
    put_record(dataset_.columns(), reader_.fields(), dictionaries_, sink,
               [this] { return location(); });
    check_encoding();
  }
  // Warns once per file of a string that is not valid UTF-8.
  void check_encoding() {
    has_warned_ = has_warned_ || dataset_.columns().warn_if_invalid_utf8(
                                     reader_.fields(), [this] { return location(); });
  }
  bool has_warned() const { return has_warned_; }
  FilePosition position() const override { return {reader_.offset(), records_, reader_.lines()}; }
  void seek(const FilePosition& position) override {
    reader_.seek(position.offset, position.lines);
    records_ = position.records;
  }
  const std::vector<std::string_view>& fields() const { return reader_.fields(); }
  std::string_view view() const { return reader_.view(); }
  void take(const CsvReader::ConsumedRecords& taken, int64_t records) {
    reader_.take(taken);
    records_ += records;
  }
  std::string location() const {
    return str_cat("Line ", reader_.line(), " of '", reader_.path(), "'");
  }

 private:
  void check_header() {
    const std::vector<std::string>& expected = dataset_.header();
    if (expected.empty()) return;
    std::vector<std::string> names;
    for (std::string_view field : reader_.fields()) {
      std::string decoded;
      dataset_.columns().decoder().decode(&field, &decoded);
      names.emplace_back(field);
    }
    if (names == expected) return;
    fail(Code::kFailedPrecondition, "'", reader_.path(), "' has columns ", str_join(names, ", "),
         "; expected ", str_join(expected, ", "), ".");
  }

  const CsvDataset& dataset_;
  CsvReader reader_;
  ColumnDictionaries dictionaries_;
  int64_t records_ = 0;
  bool has_warned_ = false;
};

std::unique_ptr<FileRecords> CsvDataset::open(const ByteSource& source) const {
  return std::make_unique<CsvRecords>(*this, source);
}

class CsvIterator : public FileIterator {
 public:
  explicit CsvIterator(std::shared_ptr<const CsvDataset> dataset)
      : FileIterator(dataset),
        columns_(dataset->columns()),
        dictionaries_(columns_.columns().size()),
        string_dictionaries_(columns_.columns().size()),
        rows_(columns_),
        block_(columns_) {}
  // Parses fields directly into the columns of the batch.
  int64_t next_stacked(int64_t n, bool only_whole, ElementSink& sink) override {
    for (size_t k = 0; k < string_dictionaries_.size(); ++k) {
      if (columns_.columns()[k].dtype == DType::kString)
        string_dictionaries_[k] = dictionaries_.at(k);
    }
    int64_t rows = 0;
    while (rows < n) {
      const int64_t count = read_block(rows, n - rows);
      if (count == 0 && !read_row(rows)) break;
      rows += std::max<int64_t>(count, 1);
    }
    rows_seen_ += rows;
    if (rows == 0 || (rows < n && only_whole)) return rows;
    for (size_t k = 0; k < string_dictionaries_.size(); ++k) {
      const DType dtype = columns_.columns()[k].dtype;
      Tensor& tensor = sink.allocate(static_cast<int>(k), dtype, Shape{rows});
      if (dtype == DType::kString) tensor.set_dictionary(string_dictionaries_[k]);
      std::memcpy(tensor.raw(), rows_.at(k, 0), tensor.num_bytes());
    }
    return rows;
  }
  int64_t next_block(int64_t n, ElementSink& sink) override { return next_stacked(n, false, sink); }

 private:
  // Parses several records from buffered text. Returns 0 if they must be read one by one.
  int64_t read_block(int64_t row, int64_t n) {
    auto* csv = static_cast<CsvRecords*>(cursor_.records());
    if (!csv || num_serial_records_ > 0) return 0;
    const int64_t count =
        block_.read(csv->view(), n, row, !csv->has_warned(), rows_, string_dictionaries_);
    if (count > 0) csv->take(block_.taken(), count);
    // After a failed block, the next records are read one by one. So a file with many malformed
    // records does not parse blocks in vain all the time.
    constexpr int64_t kSerialRecordsPerFailure = 4;
    num_serial_records_ = kSerialRecordsPerFailure * block_.num_failed_records();
    return count;
  }
  bool read_row(int64_t row) {
    rows_.reserve(row + 1);
    if (num_serial_records_ > 0) --num_serial_records_;
    return cursor_.next([&](FileRecords& records) {
      auto& csv = static_cast<CsvRecords&>(records);
      const auto location = [&csv] { return csv.location(); };
      columns_.check_field_count(csv.fields().size(), location);
      for (size_t k = 0; k < string_dictionaries_.size(); ++k) {
        columns_.read(k, csv.fields()[columns_.columns()[k].field], rows_.at(k, row),
                      string_dictionaries_[k].get(), location);
      }
      csv.check_encoding();
    });
  }

  const CsvColumns& columns_;
  ColumnDictionaries dictionaries_;
  CsvBlock::Dictionaries string_dictionaries_;
  CsvRows rows_;
  CsvBlock block_;
  int64_t num_serial_records_ = 0;  // number of next records to read singly after a failed block
};

std::unique_ptr<DatasetIterator> CsvDataset::iterator(IteratorContext&) const {
  return std::make_unique<CsvIterator>(self(this));
}

// R functions derive these arguments from a record specification, such as csv_record_spec().
RUNHOOKS_REGISTER_DATASET(
    CsvDataset,
    "",
    {"filenames: any. Paths of the files.",
     "compression_type = NULL: string. Compression of the files.",
     "skip = 0: number in [0, Inf). Number of lines to skip at the start of each file.",
     "has_header = FALSE: flag. Whether a header follows the skipped lines.",
     "header: any. Expected header; empty accepts any.",
     "on_error = \"stop\": string. What to do about an invalid record.", RUNHOOKS_STREAM_ARGUMENT,
     RUNHOOKS_ENCODING_ARGUMENTS, RUNHOOKS_CSV_ARGUMENTS},
    "Read records from files of delimited text.");

}  // namespace

}  // namespace runhooks
