// TakeDataset: keeps the first elements of the input.
#include <algorithm>

#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class TakeDataset : public Transformation {
 public:
  explicit TakeDataset(const Args& args)
      : Transformation(dataset_argument(args)), count_(args.integer("count")) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const RowTable* row_table() const override { return input().row_table(); }
  bool is_endless() const override { return count_ < 0 && input().is_endless(); }
  int64_t cardinality() const override {
    const int64_t n = input().cardinality();
    if (count_ < 0 || n == kUnknownCardinality) return n;
    return n == kInfiniteCardinality ? count_ : std::min(n, count_);
  }
  bool includes(int64_t num_taken) const { return count_ < 0 || num_taken < count_; }
  int64_t max_count() const { return count_ < 0 ? kMaxCount : count_; }
  // Returns how many of the next `n` elements may be read, after `num_taken` elements were read.
  int64_t limit(int64_t n, int64_t num_taken) const {
    return count_ < 0 ? n : std::clamp<int64_t>(count_ - num_taken, 0, n);
  }

 private:
  int64_t count_;
};

class TakeIterator : public TransformationIterator<TakeDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    if (!dataset_->includes(num_taken_) || !input_->next(sink)) return false;
    ++num_taken_;
    return true;
  }
  int64_t next_rows(int64_t n, int64_t* numbers) override {
    const int64_t num_taken = input_->next_rows(dataset_->limit(n, num_taken_), numbers);
    num_taken_ += num_taken;
    return num_taken;
  }
  std::string location() const override { return input_->location(); }

 protected:
  void rewind_own() override { num_taken_ = 0; }
  NamedTensors save_own() const override { return {{"taken", Tensor::scalar(num_taken_)}}; }
  void restore_own(const NamedTensors& state) override {
    num_taken_ = state_count(state, "taken", dataset_->max_count());
  }

 private:
  int64_t num_taken_ = 0;
};

std::unique_ptr<DatasetIterator> TakeDataset::iterator(IteratorContext& context) const {
  return std::make_unique<TakeIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(TakeDataset,
                          "dataset_take",
                          {"dataset: dataset.",
                           "count: number. Number of elements to keep; -1 for all."},
                          "Keep the first elements.");

}  // namespace

}  // namespace runhooks
