// Windows: elements that are datasets of consecutive input elements.
#include <deque>
#include <utility>

#include "base/interrupt.h"
#include "data/element_or_error.h"
#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class WindowDataset : public Transformation {
 public:
  explicit WindowDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        size_(args.integer("size")),
        shift_(args.integer("shift", size_)),
        stride_(args.integer("stride", 1)),
        drop_remainder_(args.flag("drop_remainder", false)) {}
  // Each component becomes a dataset.
  std::vector<DType> dtypes() const override {
    return std::vector<DType>(input().dtypes().size(), DType::kVariant);
  }
  std::vector<Shape> shapes() const override {
    return std::vector<Shape>(input().dtypes().size(), Shape());
  }
  std::shared_ptr<const Dataset> inner(size_t k) const override { return window_type(input(), k); }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override {
    const int64_t n = input().cardinality(), span = (size_ - 1) * stride_ + 1;
    if (n < 0) return n;
    if (drop_remainder_) return n < span ? 0 : (n - span) / shift_ + 1;
    return batched_cardinality(n, shift_, false);
  }
  size_t size() const { return static_cast<size_t>(size_); }
  size_t shift() const { return static_cast<size_t>(shift_); }
  size_t stride() const { return static_cast<size_t>(stride_); }
  bool drops_remainder() const { return drop_remainder_; }
  // Returns the number of input elements from the first to the last element of a window.
  size_t span() const { return (size() - 1) * stride() + 1; }

 private:
  int64_t size_, shift_, stride_;
  bool drop_remainder_;
};

class WindowIterator : public TransformationIterator<WindowDataset> {
 public:
  using TransformationIterator::TransformationIterator;
  // An element that fails causes an error only in windows that contain it. Reading can continue
  // with the next window.
  bool next(ElementSink& sink) override {
    const size_t span = dataset_->span();
    InterruptPoll poll;
    while (num_to_skip_ > 0) {
      poll();
      if (!read_one()) break;
      buffer_.pop_back();
      --num_to_skip_;
    }
    while (num_to_skip_ == 0 && buffer_.size() < span && read_one()) poll();
    if (buffer_.empty() || (buffer_.size() < span && dataset_->drops_remainder())) return false;
    const std::exception_ptr error = first_error();
    if (!error) put_window(sink);
    slide();
    if (error) std::rethrow_exception(error);
    return true;
  }

 protected:
  void rewind_own() override {
    buffer_.clear();
    num_to_skip_ = 0;
    at_end_ = false;
  }
  NamedTensors save_own() const override {
    NamedTensors state = {{"skips", Tensor::scalar(num_to_skip_)},
                          {"is_over", Tensor::scalar(at_end_)}};
    std::vector<const ElementOrError*> buffered;
    for (const ElementOrError& element : buffer_) buffered.push_back(&element);
    serialize_buffered(state, "buffer/", buffered, 0);
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    const std::vector<ElementOrError> buffer = deserialize_buffered(
        state, "buffer/", dataset_->input(), static_cast<int64_t>(dataset_->span()) - 1, 0);
    // A valid state skips fewer than `shift` elements, and only while the buffer is empty.
    const int64_t num_to_skip =
        state_count(state, "skips", static_cast<int64_t>(dataset_->shift()) - 1);
    if (num_to_skip > 0 && !buffer.empty()) {
      fail(Code::kDataLoss, "The saved state of a window is damaged.");
    }
    at_end_ = state_flag(state, "is_over");
    num_to_skip_ = num_to_skip;
    buffer_.assign(buffer.begin(), buffer.end());
  }

 private:
  bool read_one() {
    ElementOrError element;
    if (at_end_ || !next_or_error(*input_, element)) {
      at_end_ = true;
      return false;
    }
    buffer_.push_back(std::move(element));
    return true;
  }
  // Returns the number of buffered elements that belong to the window: every stride-th one.
  size_t window_size() const {
    return std::min(dataset_->size(), 1 + (buffer_.size() - 1) / dataset_->stride());
  }
  const ElementOrError& window_element(size_t i) const { return buffer_[i * dataset_->stride()]; }
  std::exception_ptr first_error() const {
    for (size_t i = 0; i < window_size(); ++i) {
      if (window_element(i).error) return window_element(i).error;
    }
    return nullptr;
  }
  void slide() {
    const size_t num_dropped = std::min(dataset_->shift(), buffer_.size());
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<long>(num_dropped));
    num_to_skip_ = static_cast<int64_t>(dataset_->shift() - num_dropped);
  }
  void put_window(ElementSink& sink) {
    std::vector<const Components*> elements;
    for (size_t i = 0; i < window_size(); ++i) elements.push_back(&window_element(i).components);
    runhooks::put_window(elements, dataset_->input(), 0, sink);
  }

  std::deque<ElementOrError> buffer_;
  int64_t num_to_skip_ = 0;  // elements to skip between two windows
  bool at_end_ = false;
};

std::unique_ptr<DatasetIterator> WindowDataset::iterator(IteratorContext& context) const {
  return std::make_unique<WindowIterator>(self(this), context);
}

// The R function documents that elements are datasets.
RUNHOOKS_REGISTER_DATASET(
    WindowDataset,
    "",
    {"dataset: dataset.", "size: number in [1, Inf). Number of elements per window.",
     "shift = NULL: number in [1, Inf). Distance between windows; `NULL`: `size`.",
     "stride = 1: number in [1, Inf). Distance between elements of a window.",
     "drop_remainder = FALSE: flag. TRUE drops incomplete windows."},
    "Group the elements into windows.");

}  // namespace

}  // namespace runhooks
