// A dataset of file paths. Its fingerprint covers the contents of the files.
#include "data/data_fingerprint.h"
#include "data/indexed_iterator.h"

namespace runhooks {

namespace {

class FileListDataset : public Dataset, public RowTable {
 public:
  explicit FileListDataset(const Args& args) : files_(args.texts("filenames")) {}
  std::vector<DType> dtypes() const override { return {DType::kString}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const RowTable* row_table() const override { return this; }
  int64_t num_rows() const override { return static_cast<int64_t>(files_.size()); }
  int64_t cardinality() const override { return num_rows(); }
  void put(int64_t number, ElementSink& sink) const override {
    sink.put(0, Tensor::string_scalar(files_[static_cast<size_t>(number)]));
  }
  void put_stacked(const int64_t* numbers, int64_t n, ElementSink& sink) const override {
    std::vector<std::string> paths;
    for (int64_t i = 0; i < n; ++i) paths.push_back(files_[static_cast<size_t>(numbers[i])]);
    sink.put(0, Tensor::strings({n}, paths));
  }

  void add_data_to(DataFingerprint& fingerprint) const override {
    fingerprints_.add_files_to(fingerprint, files_);
  }

 private:
  bool identifies_data(const std::string& argument) const override {
    return argument == "filenames";
  }

  std::vector<std::string> files_;
  FileFingerprints fingerprints_;
};

std::unique_ptr<DatasetIterator> FileListDataset::iterator(IteratorContext&) const {
  return std::make_unique<IndexedIterator<FileListDataset>>(self(this));
}

// The R function expands patterns of file names.
RUNHOOKS_REGISTER_DATASET(FileListDataset,
                          "",
                          {"filenames: any. File paths."},
                          "A dataset of file paths.");

}  // namespace

}  // namespace runhooks
