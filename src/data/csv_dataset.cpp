// The records of files of delimited text, one by one or in batches that run on across files.
#include "data/csv_columns.h"
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
        has_header_(args.flag("has_header", false)),
        batch_size_(args.integer("batch_size", 0)),
        drop_remainder_(args.flag("drop_remainder", false)) {}
  std::vector<DType> dtypes() const override { return columns_.dtypes(); }
  std::vector<Shape> shapes() const override {
    Shape shape;
    if (batch_size_ > 0) shape.append(drop_remainder_ ? batch_size_ : Shape::kUnknownDim);
    return std::vector<Shape>(columns_.columns().size(), shape);
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  std::unique_ptr<FileRecords> open(const std::string& path) const override;
  const char* unit() const override { return "record"; }

  const CsvColumns& columns() const { return columns_; }
  int64_t skip() const { return skip_; }
  bool has_header() const { return has_header_; }
  const std::vector<std::string>& header() const { return header_; }
  int64_t batch_size() const { return batch_size_; }
  bool drop_remainder() const { return drop_remainder_; }

 private:
  CsvColumns columns_;
  int64_t skip_;
  std::vector<std::string> header_;  // what it must say; empty: anything
  bool has_header_;
  int64_t batch_size_;  // 0: records one by one
  bool drop_remainder_;
};

class CsvRecords : public FileRecords {
 public:
  CsvRecords(const CsvDataset& dataset, const std::string& path)
      : dataset_(dataset),
        reader_(path, dataset.compression(), dataset.columns().format()),
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
               [this] { return where(); });
  }
  FilePlace place() const override { return {reader_.offset(), records_, reader_.lines()}; }
  void seek(const FilePlace& place) override {
    reader_.seek(place.offset, place.lines);
    records_ = place.records;
  }
  const std::vector<std::string_view>& fields() const { return reader_.fields(); }
  std::string where() const {
    return str_cat("Line ", reader_.line(), " of '", reader_.path(), "'");
  }

 private:
  void check_header() {
    const std::vector<std::string>& expected = dataset_.header();
    if (expected.empty()) return;
    const auto& found = reader_.fields();
    if (std::vector<std::string>(found.begin(), found.end()) == expected) return;
    std::vector<std::string> words(found.begin(), found.end());
    fail(Code::kFailedPrecondition, "'", reader_.path(), "' has the columns ",
         str_join(words, ", "), "; expected are ", str_join(expected, ", "), ".");
  }

  const CsvDataset& dataset_;
  CsvReader reader_;
  ColumnDictionaries dictionaries_;
  int64_t records_ = 0;
};

std::unique_ptr<FileRecords> CsvDataset::open(const std::string& path) const {
  return std::make_unique<CsvRecords>(*this, path);
}

class CsvBatches : public DatasetIterator {
 public:
  explicit CsvBatches(std::shared_ptr<const CsvDataset> dataset)
      : dataset_(std::move(dataset)),
        cursor_(*dataset_),
        dictionaries_(dataset_->columns().columns().size()),
        values_(dataset_->columns().columns().size()) {}
  bool next(ElementSink& sink) override {
    int64_t rows = 0;
    begin();
    while (rows < dataset_->batch_size() && read_row(rows)) ++rows;
    if (rows == 0 || (rows < dataset_->batch_size() && dataset_->drop_remainder())) return false;
    for (size_t k = 0; k < values_.size(); ++k) {
      const DType dtype = dataset_->columns().columns()[k].dtype;
      Tensor& tensor = sink.allocate(static_cast<int>(k), dtype, Shape{rows});
      if (dtype == DType::kString) tensor.set_dictionary(strings_[k]);
      std::memcpy(tensor.raw(), values_[k].data(), tensor.num_bytes());
    }
    rows_seen_ += rows;
    return true;
  }
  void rewind() override { cursor_.rewind(); }
  NamedTensors save() const override {
    NamedTensors state = cursor_.save();
    state["rows_seen"] = Tensor::scalar(rows_seen_);
    return state;
  }
  void restore(const NamedTensors& state) override {
    rows_seen_ = state_count(state, "rows_seen");
    cursor_.restore(state);
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  // A batch has one dictionary for each column.
  void begin() {
    strings_.resize(values_.size());
    for (size_t k = 0; k < values_.size(); ++k) {
      if (dataset_->dtypes()[k] == DType::kString) strings_[k] = dictionaries_.at(k);
    }
  }
  bool read_row(int64_t row) {
    const CsvColumns& columns = dataset_->columns();
    return cursor_.next([&](FileRecords& records) {
      const auto& csv = static_cast<const CsvRecords&>(records);
      const auto where = [&csv] { return csv.where(); };
      columns.check_count(csv.fields().size(), where);
      for (size_t k = 0; k < values_.size(); ++k) {
        const CsvColumn& column = columns.columns()[k];
        const size_t size = dtype_size(column.dtype), at = static_cast<size_t>(row) * size;
        if (values_[k].size() < at + size) values_[k].resize(2 * at + size);
        columns.read(k, csv.fields()[column.field], values_[k].data() + at, strings_[k].get(),
                     where);
      }
    });
  }

  std::shared_ptr<const CsvDataset> dataset_;
  FileCursor cursor_;
  ColumnDictionaries dictionaries_;
  std::vector<std::vector<char>> values_;  // of each column
  std::vector<std::shared_ptr<StringDictionary>> strings_;
  int64_t rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> CsvDataset::iterator(IteratorContext& context) const {
  if (batch_size_ == 0) return FileSource::iterator(context);
  return std::make_unique<CsvBatches>(self(this));
}

// R's functions make these arguments of a record specification.
RUNHOOKS_REGISTER_DATASET(
    "CsvDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> { return std::make_shared<CsvDataset>(args); },
    "",
    {"filenames: any. The files.", "compression_type = NULL: string. How they are compressed.",
     "skip = 0: number in [0, Inf). How many lines at the beginning of each file are left out.",
     "has_header = FALSE: flag. Whether a header follows them.",
     "header: any. What it must say; nothing where it may say anything.",
     "batch_size = 0: number in [0, Inf). How many rows a batch has; 0: rows one by one.",
     "drop_remainder = FALSE: flag. Whether a last batch is left out that is short.",
     "on_error = \"stop\": string. What to do about an ill record.", RUNHOOKS_CSV_ARGUMENTS},
    "The records of files of delimited text.");

}  // namespace

}  // namespace runhooks
