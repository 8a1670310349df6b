// Paths of files, which are part of what the pipeline is.
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class FileListDataset : public Dataset {
 public:
  explicit FileListDataset(const Args& args) : files_(args.texts("filenames")) {}
  std::vector<DType> dtypes() const override { return {DType::kString}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::vector<std::string> files_;
};

class FileListIterator : public DatasetIterator {
 public:
  explicit FileListIterator(std::shared_ptr<const FileListDataset> dataset)
      : dataset_(std::move(dataset)) {}
  bool next(ElementSink& sink) override {
    if (position_ == static_cast<int64_t>(dataset_->files().size())) return false;
    sink.put(0, Tensor::string_scalar(dataset_->files()[static_cast<size_t>(position_++)]));
    ++rows_seen_;
    return true;
  }
  void rewind() override { position_ = 0; }
  NamedTensors save() const override {
    return {{"position", Tensor::scalar(position_)}, {"rows_seen", Tensor::scalar(rows_seen_)}};
  }
  void restore(const NamedTensors& state) override {
    const int64_t position = state_count(state, "position"),
                  count = static_cast<int64_t>(dataset_->files().size());
    if (position > count) fail(Code::kDataLoss, "There is no file ", position, " of ", count, ".");
    rows_seen_ = state_count(state, "rows_seen");
    position_ = position;
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  std::shared_ptr<const FileListDataset> dataset_;
  int64_t position_ = 0, rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> FileListDataset::iterator(IteratorContext&) const {
  return std::make_unique<FileListIterator>(self(this));
}

// R's function finds the files.
RUNHOOKS_REGISTER_DATASET(
    "FileListDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<FileListDataset>(args);
    },
    "",
    {"filenames: any. The paths."},
    "Paths of files.");

}  // namespace

}  // namespace runhooks
