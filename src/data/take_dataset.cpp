// The first elements of the input.
#include "data/transformation.h"

namespace runhooks {

namespace {

class TakeDataset : public Transformation {
 public:
  explicit TakeDataset(const Args& args)
      : Transformation(dataset_argument(args)), count_(args.integer("count")) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool has(int64_t taken) const { return count_ < 0 || taken < count_; }

 private:
  int64_t count_;
};

class TakeIterator : public TransformationIterator<TakeDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    if (!dataset_->has(taken_) || !input_->next(sink)) return false;
    ++taken_;
    return true;
  }
  std::string place() const override { return input_->place(); }

 protected:
  void rewind_own() override { taken_ = 0; }
  NamedTensors save_own() const override { return {{"taken", Tensor::scalar(taken_)}}; }
  void restore_own(const NamedTensors& state) override { taken_ = state_count(state, "taken"); }

 private:
  int64_t taken_ = 0;
};

std::unique_ptr<DatasetIterator> TakeDataset::iterator(IteratorContext& context) const {
  return std::make_unique<TakeIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "TakeDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<TakeDataset>(args);
    },
    "dataset_take",
    {"dataset: dataset.", "count: number. How many; -1 for all."},
    "The first elements.");

}  // namespace

}  // namespace runhooks
