// The input in a random order, TensorFlow's for the same seeds: of a buffer of elements one is
// drawn and its place filled again.
#include <limits>
#include <type_traits>

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
  const RowTable* row_table() const override { return input().row_table(); }

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

// What waits in the buffer: elements,
struct BufferedElements {
  struct Item {
    Components components;
    int64_t rows = 0;  // that the input has read for it
  };
  static bool read(DatasetIterator& input, Item* item) {
    const int64_t before = input.rows_seen();
    ComponentsSink element;
    if (!input.next(element)) return false;
    *item = {element.take(), input.rows_seen() - before};
    return true;
  }
  static int64_t rows(const Item& item) { return item.rows; }
  static NamedTensors save(const std::vector<const Item*>& items) {
    std::vector<const Components*> elements;
    std::vector<int64_t> rows;
    for (const Item* item : items) {
      elements.push_back(&item->components);
      rows.push_back(item->rows);
    }
    NamedTensors state;
    add_subtree(state, "buffer/", save_elements(elements));
    state["rows"] = Tensor::vector(rows);
    return state;
  }
  static std::vector<Item> restored(const NamedTensors& state, const ShuffleDataset& dataset) {
    std::vector<Components> elements =
        read_elements(subtree(state, "buffer/"), dataset.dtypes(), dataset.shapes());
    const std::vector<int64_t> rows = state_integers(state, "rows");
    if (rows.size() != elements.size()) {
      fail(Code::kDataLoss, "The buffer of a shuffle is damaged.");
    }
    std::vector<Item> items;
    for (size_t i = 0; i < rows.size(); ++i) items.push_back({std::move(elements[i]), rows[i]});
    return items;
  }
};

// or, of elements that are rows of a table, their numbers.
struct BufferedRows {
  using Item = int64_t;
  static bool read(DatasetIterator& input, Item* item) { return input.next_rows(1, item) == 1; }
  static int64_t rows(const Item&) { return 1; }
  static NamedTensors save(const std::vector<const Item*>& items) {
    std::vector<int64_t> numbers;
    for (const Item* item : items) numbers.push_back(*item);
    return {{"numbers", Tensor::vector(numbers)}};
  }
  static std::vector<Item> restored(const NamedTensors& state, const ShuffleDataset& dataset) {
    std::vector<int64_t> numbers = state_integers(state, "numbers");
    const int64_t rows = dataset.row_table()->num_rows();
    for (const int64_t number : numbers) {
      if (number < 0 || number >= rows) {
        fail(Code::kDataLoss, "There is no row ", number, " in ", rows, " rows of data.");
      }
    }
    return numbers;
  }
};

template <typename Buffered>
class ShuffleIterator : public TransformationIterator<ShuffleDataset> {
  using Item = typename Buffered::Item;

 public:
  ShuffleIterator(std::shared_ptr<const ShuffleDataset> dataset, IteratorContext& context)
      : TransformationIterator(std::move(dataset), context),
        parent_(context.seeds(dataset_->seed())),
        own_(own_stream()) {}

  bool next(ElementSink& sink) override {
    Item item;
    if (!draw(&item)) return false;
    if constexpr (std::is_same_v<Buffered, BufferedRows>) {
      dataset_->row_table()->put(item, sink);
    } else {
      sink.put_all(std::move(item.components));
    }
    return true;
  }
  int64_t next_rows(int64_t n, int64_t* numbers) override {
    int64_t taken = 0;
    if constexpr (std::is_same_v<Buffered, BufferedRows>) {
      while (taken < n && draw(&numbers[taken])) ++taken;
    }
    return taken;
  }
  int64_t rows_seen() const override { return input_->rows_seen() - rows_waiting_; }

 protected:
  void rewind_own() override {
    own_ = own_stream();
    buffer_.clear();
    begin_ = 0;
    slices_ = {{0, 0}};
    epoch_ = 0;
    is_over_ = has_element_ = false;
    rows_waiting_ = 0;
  }
  NamedTensors save_own() const override {
    std::vector<const Item*> items;
    std::vector<int64_t> slices;
    for (const Slice& slice : slices_) {
      slices.push_back(slice.first);
      slices.push_back(slice.last);
      for (int64_t i = slice.first; i < slice.last; ++i) items.push_back(&buffer_[place(i)]);
    }
    NamedTensors state = Buffered::save(items);
    add_subtree(state, "parent/", parent_.save());
    add_subtree(state, "random/", own_.save());
    state["slices"] = Tensor::vector(slices);
    state["epoch"] = Tensor::scalar(epoch_);
    state["is_over"] = Tensor::scalar(is_over_);
    state["has_element"] = Tensor::scalar(has_element_);
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    const RandomStream parent = RandomStream::restored(subtree(state, "parent/")),
                       own = RandomStream::restored(subtree(state, "random/"));
    restore_slices(state_integers(state, "slices"), Buffered::restored(state, *dataset_));
    epoch_ = state_count(state, "epoch");
    is_over_ = state_flag(state, "is_over");
    has_element_ = state_flag(state, "has_element");
    parent_ = parent;
    own_ = own;
  }

 private:
  RandomStream own_stream() {
    if (!dataset_->reshuffles()) return RandomStream(parent_.seeds());
    const uint64_t seed = parent_.next();
    return RandomStream({seed, parent_.next()});
  }
  // Where element number i waits, of those from the first one of all slices on.
  size_t place(int64_t i) const {
    const auto behind = static_cast<size_t>(i - begin_);
    return behind < dataset_->buffer_size() ? behind : behind - dataset_->buffer_size();
  }
  int64_t waiting() const { return slices_.back().last - slices_.front().first; }

  bool draw(Item* item) {
    fill();
    while (slices_.size() > 1 && slices_.front().first == slices_.front().last) {
      slices_.erase(slices_.begin());
    }
    Slice& slice = slices_.front();
    const int64_t waiting = slice.last - slice.first;
    if (waiting == 0) return false;
    // 32 bits are divided faster
    const uint32_t random = own_.next();
    const int64_t drawn = waiting <= std::numeric_limits<uint32_t>::max()
                              ? random % static_cast<uint32_t>(waiting)
                              : random;
    Item& chosen = buffer_[place(slice.first + drawn)];
    *item = std::move(chosen);
    rows_waiting_ -= Buffered::rows(*item);
    if (drawn != 0) chosen = std::move(buffer_[place(slice.first)]);
    ++slice.first;
    const auto size = static_cast<int64_t>(dataset_->buffer_size());
    if (slice.first - begin_ == size) begin_ += size;
    return true;
  }
  void fill() {
    Item item;
    while (!is_over_ && static_cast<size_t>(waiting()) < dataset_->buffer_size()) {
      if (Buffered::read(*input_, &item)) {
        push(std::move(item));
      } else {
        begin_epoch();
      }
    }
  }
  void push(Item item) {
    const size_t to = place(slices_.back().last++);
    // the buffer grows as far as the data do
    if (to >= buffer_.size()) buffer_.resize(to + 1);
    rows_waiting_ += Buffered::rows(item);
    buffer_[to] = std::move(item);
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
  void restore_slices(const std::vector<int64_t>& bounds, std::vector<Item> items) {
    std::vector<Slice> slices;
    int64_t waiting = 0;
    bool is_good = !bounds.empty() && bounds.size() % 2 == 0;
    for (size_t i = 0; is_good && i < bounds.size(); i += 2) {
      const int64_t before = i == 0 ? bounds[0] : bounds[i - 1];
      is_good = bounds[i] >= 0 && bounds[i] == before && bounds[i + 1] >= bounds[i];
      slices.push_back({bounds[i], bounds[i + 1]});
      waiting += bounds[i + 1] - bounds[i];
    }
    is_good = is_good && waiting == static_cast<int64_t>(items.size()) &&
              items.size() <= dataset_->buffer_size();
    if (!is_good) fail(Code::kDataLoss, "The buffer of a shuffle is damaged.");
    slices_ = slices;
    begin_ = slices_.front().first;
    buffer_ = std::move(items);
    rows_waiting_ = 0;
    for (const Item& item : buffer_) rows_waiting_ += Buffered::rows(item);
  }

  RandomStream parent_;  // gives the seeds of passes
  RandomStream own_;     // of this pass
  std::vector<Item> buffer_;
  int64_t begin_ = 0;  // number of the element whose place is the buffer's first
  std::vector<Slice> slices_ = {{0, 0}};
  int64_t epoch_ = 0, rows_waiting_ = 0;
  bool is_over_ = false, has_element_ = false;
};

std::unique_ptr<DatasetIterator> ShuffleDataset::iterator(IteratorContext& context) const {
  if (row_table()) return std::make_unique<ShuffleIterator<BufferedRows>>(self(this), context);
  return std::make_unique<ShuffleIterator<BufferedElements>>(self(this), context);
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
