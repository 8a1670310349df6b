// Parses lines of delimited text into records.
#include "data/csv_columns.h"

namespace runhooks {

namespace {

class DecodeDelimDataset : public Transformation {
 public:
  explicit DecodeDelimDataset(const Args& args)
      : Transformation(dataset_argument(args)), columns_(args) {
    const std::vector<DType> input_dtypes = input().dtypes();
    const bool is_text = input_dtypes.size() == 1 && input_dtypes[0] == DType::kString &&
                         input().shapes()[0].is_compatible_with(Shape());
    if (!is_text) {
      invalid_argument(args.owner(), " needs a dataset whose elements are single strings.");
    }
  }
  std::vector<DType> dtypes() const override { return columns_.dtypes(); }
  std::vector<Shape> shapes() const override {
    return std::vector<Shape>(columns_.columns().size());
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return input().cardinality(); }
  const CsvColumns& columns() const { return columns_; }

 private:
  bool commutes_with_sharding() const override { return true; }
  CsvColumns columns_;
};

class DecodeDelimIterator : public TransformationIterator<DecodeDelimDataset> {
 public:
  DecodeDelimIterator(std::shared_ptr<const DecodeDelimDataset> dataset, IteratorContext& context)
      : TransformationIterator(std::move(dataset), context),
        splitter_(dataset_->columns().format()),
        dictionaries_(dataset_->columns().columns().size()) {}
  bool next(ElementSink& sink) override {
    ComponentsSink line;
    if (!input_->next(line)) return false;
    ++num_elements_;
    const Components element = line.take();
    const std::string& text = element[0].string_at(0);
    if (splitter_.split(text, true) != CsvSplit::kRecord || splitter_.size() < text.size()) {
      fail(Code::kDataLoss, error_location(), ": unbalanced quotes or several lines in '", text,
           "'.");
    }
    put_record(dataset_->columns(), splitter_.fields(), dictionaries_, sink,
               [this] { return error_location(); });
    return true;
  }
  std::string location() const override { return input_->location(); }

 protected:
  void rewind_own() override { num_elements_ = 0; }
  NamedTensors save_own() const override { return {{"elements", Tensor::scalar(num_elements_)}}; }
  void restore_own(const NamedTensors& state) override {
    num_elements_ = state_count(state, "elements");
  }

 private:
  std::string error_location() const {
    const std::string location = input_->location();
    return location.empty() ? str_cat("Element ", num_elements_, " of a dataset") : location;
  }

  CsvSplitter splitter_;
  ColumnDictionaries dictionaries_;
  int64_t num_elements_ = 0;
};

std::unique_ptr<DatasetIterator> DecodeDelimDataset::iterator(IteratorContext& context) const {
  return std::make_unique<DecodeDelimIterator>(self(this), context);
}

// The R function creates these arguments from a record specification.
RUNHOOKS_REGISTER_DATASET(DecodeDelimDataset,
                          "",
                          {"dataset: dataset.", RUNHOOKS_CSV_ARGUMENTS},
                          "Parse lines of delimited text.");

}  // namespace

}  // namespace runhooks
