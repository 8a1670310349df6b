// Consecutive elements of the input, stacked.
#include "data/elements.h"
#include "data/transformation.h"

namespace runhooks {

namespace {

class BatchDataset : public Transformation {
 public:
  explicit BatchDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        batch_size_(args.integer("batch_size")),
        drop_remainder_(args.flag("drop_remainder", false)) {}
  std::vector<Shape> shapes() const override {
    return batched_shapes(input().shapes(), drop_remainder_ ? batch_size_ : Shape::kUnknownDim);
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  size_t batch_size() const { return static_cast<size_t>(batch_size_); }
  bool drops_remainder() const { return drop_remainder_; }

 private:
  int64_t batch_size_;
  bool drop_remainder_;
};

class BatchIterator : public TransformationIterator<BatchDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    elements_.clear();
    ComponentsSink element;
    while (elements_.size() < dataset_->batch_size() && input_->next(element)) {
      elements_.push_back(element.take());
    }
    const bool is_short = elements_.size() < dataset_->batch_size();
    if (elements_.empty() || (is_short && dataset_->drops_remainder())) return false;
    put_stacked(elements_, sink);
    return true;
  }

 private:
  std::vector<Components> elements_;  // of this batch; its memory serves the next one
};

std::unique_ptr<DatasetIterator> BatchDataset::iterator(IteratorContext& context) const {
  return std::make_unique<BatchIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "BatchDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<BatchDataset>(args);
    },
    "dataset_batch",
    {"dataset: dataset.", "batch_size: number in [1, Inf). How many elements.",
     "drop_remainder = FALSE: flag. TRUE leaves a last batch out that is short."},
    "Consecutive elements stacked to batches.");

}  // namespace

}  // namespace runhooks
