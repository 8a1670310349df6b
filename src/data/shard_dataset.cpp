// Keeps every n-th element of the input.
#include "base/interrupt.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class ShardDataset : public Transformation {
 public:
  explicit ShardDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        num_shards_(args.integer("num_shards")),
        index_(args.integer("index")) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const RowTable* row_table() const override { return input().row_table(); }
  bool is_part() const override { return true; }
  int64_t cardinality() const override {
    const int64_t n = input().cardinality();
    return n < 0 ? n : n / num_shards_ + (index_ < n % num_shards_ ? 1 : 0);
  }
  bool contains(int64_t position) const { return position % num_shards_ == index_; }

 private:
  void validate_arguments(const Args& args) const override {
    if (index_ >= num_shards_) {
      invalid_argument("`index` of ", args.owner(), " must be less than `num_shards`, ",
                       num_shards_, ", not ", index_, ".");
    }
  }

  int64_t num_shards_, index_;
};

class ShardIterator : public TransformationIterator<ShardDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    InterruptPoll poll;
    for (; !dataset_->contains(position_); ++position_) {
      poll();
      ComponentsSink dropped;
      if (!input_->next(dropped)) return false;
    }
    if (!input_->next(sink)) return false;
    ++position_;
    return true;
  }
  int64_t next_rows(int64_t n, int64_t* numbers) override {
    int64_t num_read = 0, number = 0;
    InterruptPoll poll;
    while (num_read < n && input_->next_rows(1, &number) == 1) {
      poll();
      if (dataset_->contains(position_++)) numbers[num_read++] = number;
    }
    return num_read;
  }

 protected:
  void rewind_own() override { position_ = 0; }
  NamedTensors save_own() const override { return {{"position", Tensor::scalar(position_)}}; }
  void restore_own(const NamedTensors& state) override {
    position_ = state_count(state, "position");
  }

 private:
  int64_t position_ = 0;
};

std::unique_ptr<DatasetIterator> ShardDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ShardIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(ShardDataset,
                          "dataset_shard",
                          {"dataset: dataset.", "num_shards: number in [1, Inf). Number of shards.",
                           "index: number in [0, Inf). Index of the shard, from 0."},
                          "Keep every n-th element, for one of n readers.");

}  // namespace

}  // namespace runhooks
