// Repeats the input.
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

constexpr int64_t kForever = -1;

class RepeatDataset : public Transformation {
 public:
  explicit RepeatDataset(const Args& args)
      : Transformation(dataset_argument(args)), count_(args.integer("count", kForever)) {
    if (count_ < 0) count_ = kForever;
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  const RowTable* row_table() const override { return input().row_table(); }
  // TensorFlow rewinds the input once more after the last pass; a shuffle then draws seeds. It does
  // not do so if `count` is 1 or if it fuses the repeat with the input.
  bool may_start_extra_pass() const { return count_ != 1 && !input().fuses_with_repeat(); }
  bool has_last_pass() const { return count_ != kForever; }
  bool is_endless() const override { return count_ == kForever || input().is_endless(); }
  int64_t cardinality() const override {
    const int64_t n = input().cardinality();
    if (n == 0 || count_ == 0) return 0;
    if (count_ == kForever || n == kInfiniteCardinality) return kInfiniteCardinality;
    if (n == kUnknownCardinality || n > kMaxCount / count_) return kUnknownCardinality;
    return n * count_;
  }
  bool has_epoch(int64_t epoch) const { return count_ == kForever || epoch < count_; }
  int64_t epochs() const { return count_ == kForever ? kMaxCount : count_; }

 private:
  bool commutes_with_sharding() const override { return true; }
  int64_t count_;
};

class RepeatIterator : public TransformationIterator<RepeatDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  bool next(ElementSink& sink) override {
    return read([&] { return input_->next(sink) ? 1 : 0; }) > 0;
  }
  int64_t next_block(int64_t n, ElementSink& sink) override {
    return read([&] { return input_->next_block(n, sink); });
  }
  int64_t next_rows(int64_t n, int64_t* numbers) override {
    int64_t num_read = 0;
    while (num_read < n && dataset_->has_epoch(epoch_)) {
      const int64_t count = input_->next_rows(n - num_read, numbers + num_read);
      has_element_ = has_element_ || count > 0;
      num_read += count;
      if (num_read < n && !end_pass()) break;
    }
    return num_read;
  }
  int64_t epoch() const override { return previous_epochs_ + epoch_; }
  std::string location() const override { return input_->location(); }

 protected:
  void rewind_own() override {
    previous_epochs_ += epoch_;
    epoch_ = 0;
    has_element_ = false;
  }
  NamedTensors save_own() const override {
    return {{"epoch", Tensor::scalar(epoch_)},
            {"passes", Tensor::scalar(previous_epochs_)},
            {"has_element", Tensor::scalar(has_element_)}};
  }
  void restore_own(const NamedTensors& state) override {
    epoch_ = state_count(state, "epoch", dataset_->epochs());
    previous_epochs_ = state_count(state, "passes");
    has_element_ = state_flag(state, "has_element");
  }

 private:
  // Returns the result of `read_input()`, a number of elements, or 0 after the last pass. Starts
  // further passes as needed.
  template <typename ReadInput>
  int64_t read(ReadInput read_input) {
    while (dataset_->has_epoch(epoch_)) {
      const bool had_element = has_element_;
      // read_input() may throw. An element that fails counts as an element, except with an infinite
      // repeat: an input that always fails would be repeated forever.
      if (dataset_->has_last_pass()) has_element_ = true;
      const int64_t num_read = read_input();
      has_element_ = had_element || num_read > 0;
      if (num_read > 0) return num_read;
      if (!end_pass()) return 0;
    }
    return 0;
  }
  // Starts the next epoch. Returns false if the input is empty, because repeating it would not end.
  bool end_pass() {
    if (!has_element_) return false;
    ++epoch_;
    has_element_ = false;
    if (dataset_->has_epoch(epoch_) || dataset_->may_start_extra_pass()) input_->rewind();
    return true;
  }

  int64_t epoch_ = 0;            // number of epochs finished in the current pass of this dataset
  int64_t previous_epochs_ = 0;  // number of epochs in earlier passes
  bool has_element_ = false;     // whether the current epoch has had an element
};

std::unique_ptr<DatasetIterator> RepeatDataset::iterator(IteratorContext& context) const {
  return std::make_unique<RepeatIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(RepeatDataset,
                          "dataset_repeat",
                          {"dataset: dataset.",
                           "count = NULL: number. Number of passes; `NULL` or -1 for no limit."},
                          "Repeat the elements.");

}  // namespace

}  // namespace runhooks
