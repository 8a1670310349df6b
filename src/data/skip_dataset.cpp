// Drops the first elements of the input.
#include <algorithm>

#include "base/interrupt.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class SkipDataset : public Transformation {
 public:
  explicit SkipDataset(const Args& args)
      : Transformation(dataset_argument(args)), count_(args.integer("count")) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override {
    const int64_t n = input().cardinality();
    if (count_ < 0) return 0;
    return n < 0 ? n : std::max<int64_t>(n - count_, 0);
  }
  int64_t count() const { return count_; }

 private:
  int64_t count_;
};

class SkipIterator : public TransformationIterator<SkipDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    if (dataset_->count() < 0) return false;
    InterruptPoll poll;
    for (; num_skipped_ < dataset_->count(); ++num_skipped_) {
      poll();
      ComponentsSink dropped;
      if (!input_->next(dropped)) return false;
    }
    return input_->next(sink);
  }
  std::string location() const override { return input_->location(); }

 protected:
  void rewind_own() override { num_skipped_ = 0; }
  NamedTensors save_own() const override { return {{"skipped", Tensor::scalar(num_skipped_)}}; }
  void restore_own(const NamedTensors& state) override {
    num_skipped_ = state_count(state, "skipped", std::max<int64_t>(dataset_->count(), 0));
  }

 private:
  int64_t num_skipped_ = 0;
};

std::unique_ptr<DatasetIterator> SkipDataset::iterator(IteratorContext& context) const {
  return std::make_unique<SkipIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(SkipDataset,
                          "dataset_skip",
                          {"dataset: dataset.",
                           "count: number. Number of elements to drop; -1 for all."},
                          "Drop the first elements.");

}  // namespace

}  // namespace runhooks
