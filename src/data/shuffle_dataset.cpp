// The input in a random order, TensorFlow's for the same seeds: of a buffer of elements one is
// drawn and its place filled again.
#include "data/elements.h"
#include "data/random_stream.h"

namespace runhooks {

namespace {

std::optional<int64_t> seed_argument(const Args& args) {
  if (!args.has("seed")) return std::nullopt;
  return args.integer("seed");
}

class ShuffleDataset : public Transformation {
 public:
  // With `repeats` the passes through the input share the buffer, and `count` says how many.
  ShuffleDataset(const Args& args, bool repeats)
      : Transformation(dataset_argument(args)),
        buffer_size_(args.integer("buffer_size")),
        seed_(seed_argument(args)),
        reshuffles_(args.flag("reshuffle_each_iteration", true)),
        repeats_(repeats),
        count_(repeats ? args.integer("count", -1) : 1) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;

  size_t buffer_size() const { return static_cast<size_t>(buffer_size_); }
  const std::optional<int64_t>& seed() const { return seed_; }
  // TRUE where each pass has an order of its own.
  bool reshuffles() const { return reshuffles_ && !repeats_; }
  bool has_epoch(int64_t epoch) const { return count_ < 0 || epoch < count_; }

 private:
  int64_t buffer_size_;
  std::optional<int64_t> seed_;
  bool reshuffles_, repeats_;
  int64_t count_;
};

// Elements number first ... last - 1 that came from one pass through the input.
struct Slice {
  int64_t first, last;
};

class ShuffleIterator : public TransformationIterator<ShuffleDataset> {
 public:
  ShuffleIterator(std::shared_ptr<const ShuffleDataset> dataset, IteratorContext& context)
      : TransformationIterator(std::move(dataset), context),
        parent_(context.seeds(dataset_->seed())),
        own_(own_stream()) {}

  bool next(ElementSink& sink) override {
    fill();
    while (slices_.size() > 1 && slices_.front().first == slices_.front().last) {
      slices_.erase(slices_.begin());
    }
    Slice& slice = slices_.front();
    const auto waiting = static_cast<uint64_t>(slice.last - slice.first);
    if (waiting == 0) return false;
    const auto drawn = static_cast<int64_t>(own_.next() % waiting);
    Buffered& chosen = at(slice.first + drawn);
    rows_waiting_ -= chosen.rows;
    sink.put_all(std::move(chosen.components));
    if (drawn != 0) chosen = std::move(at(slice.first));
    ++slice.first;
    return true;
  }
  int64_t rows_seen() const override { return input_->rows_seen() - rows_waiting_; }

 protected:
  void rewind_own() override {
    own_ = own_stream();
    buffer_.clear();
    slices_ = {{0, 0}};
    epoch_ = 0;
    is_over_ = has_element_ = false;
    rows_waiting_ = 0;
  }
  NamedTensors save_own() const override {
    NamedTensors state;
    add_subtree(state, "parent/", parent_.save());
    add_subtree(state, "random/", own_.save());
    std::vector<const Components*> elements;
    std::vector<int64_t> rows, slices;
    for (const Slice& slice : slices_) {
      slices.push_back(slice.first);
      slices.push_back(slice.last);
      for (int64_t i = slice.first; i < slice.last; ++i) {
        elements.push_back(&at(i).components);
        rows.push_back(at(i).rows);
      }
    }
    add_subtree(state, "buffer/", save_elements(elements));
    state["rows"] = Tensor::vector(rows);
    state["slices"] = Tensor::vector(slices);
    state["epoch"] = Tensor::scalar(epoch_);
    state["is_over"] = Tensor::scalar(is_over_);
    state["has_element"] = Tensor::scalar(has_element_);
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    const RandomStream parent = RandomStream::restored(subtree(state, "parent/")),
                       own = RandomStream::restored(subtree(state, "random/"));
    std::vector<Components> elements =
        read_elements(subtree(state, "buffer/"), dataset_->dtypes(), dataset_->shapes());
    restore_slices(state_integers(state, "slices"), state_integers(state, "rows"), elements);
    epoch_ = state_count(state, "epoch");
    is_over_ = state_flag(state, "is_over");
    has_element_ = state_flag(state, "has_element");
    parent_ = parent;
    own_ = own;
  }

 private:
  struct Buffered {
    Components components;
    int64_t rows = 0;  // that the input has read for it
  };

  RandomStream own_stream() {
    if (!dataset_->reshuffles()) return RandomStream(parent_.seeds());
    const uint64_t seed = parent_.next();
    return RandomStream({seed, parent_.next()});
  }
  Buffered& at(int64_t i) { return buffer_[static_cast<size_t>(i) % dataset_->buffer_size()]; }
  const Buffered& at(int64_t i) const {
    return buffer_[static_cast<size_t>(i) % dataset_->buffer_size()];
  }
  int64_t waiting() const { return slices_.back().last - slices_.front().first; }

  void fill() {
    ComponentsSink element;
    while (!is_over_ && static_cast<size_t>(waiting()) < dataset_->buffer_size()) {
      const int64_t before = input_->rows_seen();
      if (input_->next(element)) {
        push({element.take(), input_->rows_seen() - before});
      } else {
        begin_epoch();
      }
    }
  }
  void push(Buffered element) {
    const auto place = static_cast<size_t>(slices_.back().last++) % dataset_->buffer_size();
    // the buffer grows as far as the data do
    if (place >= buffer_.size()) buffer_.resize(place + 1);
    rows_waiting_ += element.rows;
    buffer_[place] = std::move(element);
    has_element_ = true;
  }
  void begin_epoch() {
    ++epoch_;
    is_over_ = !has_element_ || !dataset_->has_epoch(epoch_);
    if (is_over_) return;
    has_element_ = false;
    input_->rewind();
    slices_.push_back({slices_.back().last, slices_.back().last});
  }
  void restore_slices(const std::vector<int64_t>& bounds,
                      const std::vector<int64_t>& rows,
                      std::vector<Components>& elements) {
    std::vector<Slice> slices;
    int64_t waiting = 0;
    bool is_good = !bounds.empty() && bounds.size() % 2 == 0 && rows.size() == elements.size();
    for (size_t i = 0; is_good && i < bounds.size(); i += 2) {
      const int64_t before = i == 0 ? bounds[0] : bounds[i - 1];
      is_good = bounds[i] >= 0 && bounds[i] == before && bounds[i + 1] >= bounds[i];
      slices.push_back({bounds[i], bounds[i + 1]});
      waiting += bounds[i + 1] - bounds[i];
    }
    is_good = is_good && waiting == static_cast<int64_t>(elements.size()) &&
              elements.size() <= dataset_->buffer_size();
    if (!is_good) fail(Code::kDataLoss, "The buffer of a shuffle is damaged.");
    buffer_.clear();
    slices_ = slices;
    rows_waiting_ = 0;
    for (size_t i = 0; i < elements.size(); ++i) {
      const int64_t number = slices_.front().first + static_cast<int64_t>(i);
      const auto place = static_cast<size_t>(number) % dataset_->buffer_size();
      if (place >= buffer_.size()) buffer_.resize(place + 1);
      buffer_[place] = {std::move(elements[i]), rows[i]};
      rows_waiting_ += rows[i];
    }
  }

  RandomStream parent_;  // gives the seeds of passes
  RandomStream own_;     // of this pass
  std::vector<Buffered> buffer_;
  std::vector<Slice> slices_ = {{0, 0}};
  int64_t epoch_ = 0, rows_waiting_ = 0;
  bool is_over_ = false, has_element_ = false;
};

std::unique_ptr<DatasetIterator> ShuffleDataset::iterator(IteratorContext& context) const {
  return std::make_unique<ShuffleIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "ShuffleDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<ShuffleDataset>(args, false);
    },
    "dataset_shuffle",
    {"dataset: dataset.",
     "buffer_size: number in [1, Inf). How many elements wait, of which the next one is drawn: as "
     "many as the data have for an even order.",
     "seed = NULL: number. With the seed of the graph it gives TensorFlow's order for both.",
     "reshuffle_each_iteration = NULL: flag. FALSE gives each pass through the data the same "
     "order."},
    "The elements in a random order.");

RUNHOOKS_REGISTER_DATASET(
    "ShuffleAndRepeatDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<ShuffleDataset>(args, true);
    },
    "dataset_shuffle_and_repeat",
    {"dataset: dataset.",
     "buffer_size: number in [1, Inf). How many elements wait, of which the next one is drawn.",
     "count = NULL: number. How often; `NULL` or -1 for ever.",
     "seed = NULL: number. With the seed of the graph it gives TensorFlow's order for both."},
    "The elements again and again, each time in another random order; the buffer is filled across "
    "the ends of passes.");

}  // namespace

}  // namespace runhooks
