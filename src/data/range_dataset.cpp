// Numbers from, from + by, ... below (above) to.
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class RangeDataset : public Dataset {
 public:
  explicit RangeDataset(const Args& args)
      : from_(args.integer("from", 0)), by_(args.integer("by", 1)) {
    const int64_t to = args.integer("to", 0);
    if (by_ == 0) invalid_argument("`by` of ", args.owner(), " must not be 0.");
    const int64_t distance = to - from_;
    if ((distance > 0) == (by_ > 0) && distance != 0) {
      size_ = distance / by_ + (distance % by_ != 0);
    }
  }
  std::vector<DType> dtypes() const override { return {DType::kInt64}; }
  std::vector<Shape> shapes() const override { return {Shape()}; }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t size() const { return size_; }
  int64_t at(int64_t i) const { return from_ + i * by_; }

 private:
  int64_t from_, by_, size_ = 0;
};

class RangeIterator : public DatasetIterator {
 public:
  explicit RangeIterator(std::shared_ptr<const RangeDataset> dataset)
      : dataset_(std::move(dataset)) {}
  bool next(ElementSink& sink) override {
    if (position_ == dataset_->size()) return false;
    *sink.allocate(0, DType::kInt64, Shape()).data<int64_t>() = dataset_->at(position_++);
    ++rows_seen_;
    return true;
  }
  void rewind() override { position_ = 0; }
  NamedTensors save() const override {
    return {{"position", Tensor::scalar(position_)}, {"rows_seen", Tensor::scalar(rows_seen_)}};
  }
  void restore(const NamedTensors& state) override {
    const int64_t position = state_count(state, "position");
    rows_seen_ = state_count(state, "rows_seen");
    if (position > dataset_->size()) {
      fail(Code::kDataLoss, "There is no number ", position, " in ", dataset_->size(), ".");
    }
    position_ = position;
  }
  int64_t rows_seen() const override { return rows_seen_; }

 private:
  std::shared_ptr<const RangeDataset> dataset_;
  int64_t position_ = 0, rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> RangeDataset::iterator(IteratorContext&) const {
  return std::make_unique<RangeIterator>(self(this));
}

RUNHOOKS_REGISTER_DATASET(
    "RangeDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<RangeDataset>(args);
    },
    "range_dataset",
    {"from = 0: number. The first number.", "to = 0: number. The numbers end before this one.",
     "by = 1: number. The difference of two numbers, which may be negative."},
    "Whole numbers in a row, int64.");

}  // namespace

}  // namespace runhooks
