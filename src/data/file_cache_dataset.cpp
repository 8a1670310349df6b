// Caches the input's elements in a file. Later passes and other processes read the file instead of
// the input.
#include "data/data_fingerprint.h"
#include "data/one_input_dataset.h"
#include "io/files/record.h"
#include "io/files/stale_files.h"
#include "io/proto/tensor_proto.h"

namespace runhooks {

namespace {

constexpr int kComponentField = 1;  // field number of a component in a record

class FileCacheDataset : public Transformation {
 public:
  explicit FileCacheDataset(const Args& args)
      : Transformation(dataset_argument(args)), path_(args.text("filename")) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return input().cardinality(); }
  const std::string& path() const { return path_; }
  // The first record. A cache file with a different header belongs to other data.
  std::string header() const {
    return str_cat("runhooks cache 2\n", input().pipeline_signature(), "\n",
                   static_cast<unsigned long>(input().data_fingerprint().fingerprint()));
  }

 private:
  // The name of the cache file does not belong to the pipeline signature: it changes no elements.
  bool identifies_data(const std::string& argument) const override {
    return argument == "filename";
  }

  std::string path_;
};

class FileCacheIterator : public TransformationIterator<FileCacheDataset> {
 public:
  using TransformationIterator::TransformationIterator;

  bool next(ElementSink& sink) override {
    if (mode_ == Mode::kNone) begin();
    if (mode_ == Mode::kEnd) return false;
    Components element;
    if (mode_ == Mode::kReading ? !read(element) : !pull_element(element)) {
      mode_ = Mode::kEnd;
      return false;
    }
    ++position_;
    ++rows_seen_;
    sink.emit(std::move(element));
    return true;
  }
  // Starts a new pass. If the last pass was incomplete, its file is removed.
  void rewind() override {
    writer_.reset();
    reader_.reset();
    mode_ = Mode::kNone;
    position_ = 0;
    input_->rewind();
  }
  int64_t rows_seen() const override { return rows_seen_; }

 protected:
  NamedTensors save_own() const override {
    return {{"mode", Tensor::scalar(static_cast<int64_t>(mode_))},
            {"position", Tensor::scalar(position_)},
            {"rows_seen", Tensor::scalar(rows_seen_)}};
  }
  void restore_own(const NamedTensors& state) override {
    const int64_t mode = state_count(state, "mode", static_cast<int64_t>(Mode::kEnd)),
                  position = state_count(state, "position"),
                  rows_seen = state_count(state, "rows_seen");
    writer_.reset();
    reader_.reset();
    mode_ = static_cast<Mode>(mode);
    position_ = position;
    rows_seen_ = rows_seen;
    // A restored iterator cannot continue a file that was being written. It finishes this pass from
    // the input, and the next pass writes the file.
    if (mode_ == Mode::kWriting) mode_ = Mode::kPassThrough;
    if (mode_ != Mode::kReading) return;
    open();
    Components skipped;
    for (int64_t i = 0; i < position; ++i, skipped.clear()) {
      if (!read(skipped)) {
        fail(Code::kDataLoss, "The cache '", dataset_->path(), "' has only ", i, " elements.");
      }
    }
  }

 private:
  enum class Mode : int64_t { kNone, kReading, kWriting, kPassThrough, kEnd };

  void begin() {
    if (file_exists(dataset_->path())) {
      mode_ = Mode::kReading;
      open();
      return;
    }
    mode_ = Mode::kWriting;
    const std::string& path = dataset_->path();
    remove_stale_temporaries(path);
    writer_ = std::make_unique<RecordWriter>(path);
    writer_->write(dataset_->header());
  }
  void open() {
    reader_ = std::make_unique<RecordReader>(dataset_->path());
    std::string header;
    if (!reader_->next(header) || header != dataset_->header()) {
      throw Error(Code::kFailedPrecondition,
                  str_cat("The cache '", dataset_->path(), "' belongs to other data."),
                  {"Delete it or choose another file name."});
    }
  }
  bool read(Components& element) {
    std::string record;
    if (!reader_->next(record)) return false;
    WireReader fields(record, dataset_->path());
    while (fields.next()) {
      if (fields.field() == kComponentField) element.push_back(read_tensor(fields.message()));
    }
    const std::vector<DType> dtypes = dataset_->dtypes();
    bool types_match = element.size() == dtypes.size();
    for (size_t k = 0; types_match && k < dtypes.size(); ++k)
      types_match = element[k].dtype() == dtypes[k];
    if (!types_match) {
      fail(Code::kDataLoss, "Element ", position_, " in the cache '", dataset_->path(),
           "' is damaged.");
    }
    return true;
  }
  bool pull_element(Components& element) {
    ComponentsSink sink;
    if (!input_->next(sink)) {
      finish();
      return false;
    }
    element = sink.take();
    if (mode_ != Mode::kWriting) return true;
    WireWriter record;
    for (const Tensor& component : element) {
      record.put_message(kComponentField, write_tensor(component));
    }
    writer_->write(record.bytes());
    return true;
  }
  void finish() {
    if (mode_ != Mode::kWriting) return;
    writer_->close();
    writer_.reset();
  }

  Mode mode_ = Mode::kNone;
  std::unique_ptr<RecordWriter> writer_;
  std::unique_ptr<RecordReader> reader_;
  int64_t position_ = 0, rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> FileCacheDataset::iterator(IteratorContext& context) const {
  return std::make_unique<FileCacheIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(FileCacheDataset,
                          "",
                          {"dataset: dataset.", "filename: string. Path of the cache file."},
                          "Cache the elements in a file.");

}  // namespace

}  // namespace runhooks
