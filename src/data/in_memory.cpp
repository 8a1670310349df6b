#include "data/in_memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "tensor/copy_rows.h"
#include "tensor/random.h"

namespace runhooks {

namespace {

class InMemoryDataset : public Dataset, public std::enable_shared_from_this<InMemoryDataset> {
 public:
  InMemoryDataset(std::vector<Tensor> tensors, const InMemoryOptions& options)
      : tensors_(std::move(tensors)), options_(options) {
    if (tensors_.empty()) invalid_argument("A dataset needs at least one tensor.");
    rows_ = tensors_[0].shape().rank() == 0 ? 0 : tensors_[0].shape().dim(0);
    for (const Tensor& tensor : tensors_) {
      if (tensor.shape().rank() == 0 || tensor.shape().dim(0) != rows_) {
        invalid_argument("All tensors of a dataset must have the same number of rows; got shapes ",
                         tensors_[0].shape(), " and ", tensor.shape(), ".");
      }
    }
    if (options.batch_size < 1) {
      invalid_argument("The batch size must be 1 or more, not ", options.batch_size, ".");
    }
  }

  std::vector<DType> dtypes() const override {
    std::vector<DType> all;
    for (const Tensor& tensor : tensors_) all.push_back(tensor.dtype());
    return all;
  }
  std::vector<Shape> shapes() const override {
    std::vector<Shape> all;
    for (const Tensor& tensor : tensors_) {
      Shape shape = tensor.shape();
      shape.set_dim(
          0, options_.num_epochs == 0 && rows_ > 0 ? options_.batch_size : Shape::kUnknownDim);
      all.push_back(shape);
    }
    return all;
  }
  std::unique_ptr<DatasetIterator> make_iterator() const override;

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const InMemoryOptions& options() const { return options_; }
  int64_t rows() const { return rows_; }
  bool has_epoch(int64_t epoch) const {
    return rows_ > 0 && (options_.num_epochs == 0 || epoch < options_.num_epochs);
  }

 private:
  std::vector<Tensor> tensors_;
  InMemoryOptions options_;
  int64_t rows_ = 0;
};

class InMemoryIterator : public DatasetIterator {
 public:
  explicit InMemoryIterator(std::shared_ptr<const InMemoryDataset> dataset)
      : dataset_(std::move(dataset)) {
    for (const Tensor& tensor : dataset_->tensors()) {
      row_bytes_.push_back(
          dataset_->rows() == 0 ? 0 : tensor.num_bytes() / static_cast<size_t>(dataset_->rows()));
    }
  }

  bool next(ElementSink& sink) override {
    if (position_ == dataset_->rows()) begin_epoch(epoch_ + 1);
    if (!dataset_->has_epoch(epoch_)) return false;
    if (dataset_->options().shuffle && order_.empty()) shuffle();
    const int64_t n = std::min(dataset_->options().batch_size, rows_left());
    targets_.clear();
    for (size_t i = 0; i < row_bytes_.size(); ++i) {
      const Tensor& source = dataset_->tensors()[i];
      Shape shape = source.shape();
      shape.set_dim(0, n);
      Tensor& target = sink.allocate(static_cast<int>(i), source.dtype(), shape);
      if (source.dtype() == DType::kString) target.set_dictionary(source.dictionary());
      targets_.push_back(static_cast<char*>(target.raw()));
    }
    fill(n);
    rows_seen_ += n;
    return true;
  }

  IteratorState save() const override { return {{epoch_, position_, rows_seen_}}; }
  void restore(const IteratorState& state) override {
    if (state.numbers.size() != 3) {
      fail(Code::kDataLoss, "This is not the state of an iterator over rows in memory.");
    }
    begin_epoch(state.numbers[0]);
    position_ = state.numbers[1];
    rows_seen_ = state.numbers[2];
  }
  int64_t rows_seen() const override { return rows_seen_; }
  int64_t epoch() const override { return epoch_; }

 private:
  // Enough to tell whether a batch is full.
  int64_t rows_left() const {
    const InMemoryOptions& options = dataset_->options();
    if (options.num_epochs == 0) return options.batch_size;
    const int64_t epochs_after = options.num_epochs - epoch_ - 1;
    const int64_t in_this = dataset_->rows() - position_;
    if (in_this >= options.batch_size || epochs_after > options.batch_size)
      return options.batch_size;
    return in_this + epochs_after * dataset_->rows();
  }

  void begin_epoch(int64_t epoch) {
    epoch_ = epoch;
    position_ = 0;
    order_.clear();
  }

  void shuffle() {
    order_.resize(static_cast<size_t>(dataset_->rows()));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    Philox random(dataset_->options().seed, static_cast<uint64_t>(epoch_));
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.below(i)]);
  }

  void fill(int64_t n) {
    int64_t done = 0;
    while (true) {
      const int64_t part = std::min(n - done, dataset_->rows() - position_);
      for (size_t i = 0; i < row_bytes_.size(); ++i) {
        const auto* source = static_cast<const char*>(dataset_->tensors()[i].raw());
        char* target = targets_[i] + static_cast<size_t>(done) * row_bytes_[i];
        if (order_.empty()) {
          std::memcpy(target, source + static_cast<size_t>(position_) * row_bytes_[i],
                      static_cast<size_t>(part) * row_bytes_[i]);
        } else {
          const size_t bytes = row_bytes_[i];
          const int64_t* order = order_.data() + position_;
          copy_rows(
              static_cast<size_t>(part), bytes,
              [=](size_t row) { return source + static_cast<size_t>(order[row]) * bytes; },
              [=](size_t row) { return target + row * bytes; });
        }
      }
      done += part;
      position_ += part;
      if (done == n) return;
      begin_epoch(epoch_ + 1);
      if (dataset_->options().shuffle) shuffle();
    }
  }

  std::shared_ptr<const InMemoryDataset> dataset_;
  std::vector<size_t> row_bytes_;
  std::vector<char*> targets_;
  std::vector<int64_t> order_;  // of this epoch; empty when not shuffled
  int64_t epoch_ = 0, position_ = 0, rows_seen_ = 0;
};

std::unique_ptr<DatasetIterator> InMemoryDataset::make_iterator() const {
  return std::make_unique<InMemoryIterator>(shared_from_this());
}

}  // namespace

std::shared_ptr<Dataset> in_memory_dataset(std::vector<Tensor> tensors,
                                           const InMemoryOptions& options) {
  return std::make_shared<InMemoryDataset>(std::move(tensors), options);
}

}  // namespace runhooks
