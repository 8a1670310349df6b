// Skips elements whose computation fails.
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

// Limits the number of consecutive failures: an input that can no longer be read fails forever.
constexpr int kMaxFailures = 1000;

class IgnoreErrorsDataset : public Transformation {
 public:
  explicit IgnoreErrorsDataset(const Args& args) : Transformation(dataset_argument(args)) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;

 private:
  bool commutes_with_sharding() const override { return true; }
};

class IgnoreErrorsIterator : public TransformationIterator<IgnoreErrorsDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    for (int failures = 1;; ++failures) {
      try {
        return input_->next(sink);
      } catch (const Error&) {
        if (failures == kMaxFailures) throw;
      }
    }
  }
  std::string location() const override { return input_->location(); }
};

std::unique_ptr<DatasetIterator> IgnoreErrorsDataset::iterator(IteratorContext& context) const {
  return std::make_unique<IgnoreErrorsIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(IgnoreErrorsDataset,
                          "",
                          {"dataset: dataset."},
                          "Skip elements whose computation fails.");

}  // namespace

}  // namespace runhooks
