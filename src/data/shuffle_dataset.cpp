// Shuffles the input in TensorFlow's order for the same seeds: draws an element from a buffer and
// refills its slot.
#include <algorithm>
#include <type_traits>

#include "base/interrupt.h"
#include "data/buffered_blocks.h"
#include "data/shuffle_buffer.h"
#include "data/shuffle_order.h"

namespace runhooks {

namespace {

constexpr int64_t kMaxBlock = 4096;  // limit on elements read at once

std::optional<int64_t> seed_argument(const Args& args) {
  if (!args.has("seed")) return std::nullopt;
  return args.integer("seed");
}

class ShuffleDataset : public Transformation {
 public:
  explicit ShuffleDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        buffer_size_(args.integer("buffer_size")),
        seed_(seed_argument(args)),
        reshuffles_(args.flag("reshuffle_each_iteration", true)) {}
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  int64_t cardinality() const override { return input().cardinality(); }
  const RowTable* row_table() const override { return input().row_table(); }
  bool fuses_with_repeat() const override { return reshuffles_; }

  size_t buffer_size() const { return static_cast<size_t>(buffer_size_); }
  const std::optional<int64_t>& seed() const { return seed_; }
  bool reshuffles() const { return reshuffles_; }

 private:
  bool commutes_with_sharding() const override { return true; }
  int64_t buffer_size_;
  std::optional<int64_t> seed_;
  bool reshuffles_;
};

// Buffer is one of the classes in shuffle_buffer.h.
template <typename Buffer>
class ShuffleIterator : public TransformationIterator<ShuffleDataset> {
 public:
  ShuffleIterator(std::shared_ptr<const ShuffleDataset> dataset, IteratorContext& context)
      : TransformationIterator(std::move(dataset), context),
        order_(context.seeds(dataset_->seed()), dataset_->buffer_size(), dataset_->reshuffles()),
        buffer_(*dataset_) {
    // If the input is a shuffle, its cache already holds the rows.
    if constexpr (kHasRows) {
      if (!input_->row_cache())
        buffer_.enable_row_cache(static_cast<int64_t>(dataset_->buffer_size()));
    }
  }
  const PackedRowCache* row_cache() const override {
    if constexpr (kHasRows) {
      if (buffer_.row_cache()) return buffer_.row_cache();
    }
    return TransformationIterator::row_cache();
  }

  bool next(ElementSink& sink) override {
    if (draw(1) == 0) return false;
    buffer_.put_one(sink);
    return true;
  }
  int64_t next_rows(int64_t n, int64_t* numbers) override {
    if constexpr (kHasRows) {
      const int64_t drawn = draw(n);
      buffer_.put_numbers(numbers);
      return drawn;
    }
    return TransformationIterator::next_rows(n, numbers);
  }
  int64_t next_stacked(int64_t n, bool only_whole, ElementSink& sink) override {
    const int64_t drawn = draw(n);
    if (drawn > 0 && (drawn == n || !only_whole)) buffer_.put_stacked(sink);
    buffer_.clear_drawn();
    return drawn;
  }
  int64_t rows_seen() const override { return input_->rows_seen() - buffer_.num_buffered_rows(); }

 protected:
  void rewind_own() override {
    order_.rewind();
    buffer_.clear();
    at_end_ = false;
  }
  NamedTensors save_own() const override {
    NamedTensors state = buffer_.save(order_.numbers());
    for (const auto& [name, tensor] : order_.save()) state[name] = tensor;
    state["is_over"] = Tensor::scalar(at_end_);
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    const bool at_end = state_flag(state, "is_over");
    const auto size = static_cast<int64_t>(dataset_->buffer_size());
    order_.restore(state, buffer_.restore(state, size));
    at_end_ = at_end;
  }
  void check_restored() const override { check_state_count(rows_seen(), "rows_seen"); }

 private:
  static constexpr bool kHasRows = std::is_same_v<Buffer, BufferedRows>;

  // Draws the next `n` elements; returns the number available.
  int64_t draw(int64_t n) {
    buffer_.clear_drawn();
    int64_t drawn = 0;
    InterruptPoll poll;
    while (drawn < n) {
      poll();
      const int64_t num_free = at_end_ ? 0 : order_.num_free();
      if (num_free > 1) {
        // Leaves one slot free. From then on, each step reads an element into it and draws one.
        fill_buffer(num_free - 1, false);
      } else if (num_free == 1) {
        drawn += fill_buffer(n - drawn, true);
      } else {
        if (order_.num_buffered() == 0) break;
        drawn += draw_from_buffer(n - drawn);
      }
    }
    return drawn;
  }
  // Reads up to `n` elements. If `draws` is true, draws an element after each of them. Returns the
  // number of elements read.
  int64_t fill_buffer(int64_t n, bool draws) {
    const int64_t count = buffer_.read(*input_, std::min(n, kMaxBlock));
    at_end_ = count == 0;
    moves_.resize(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) {
      ShuffleMove& move = moves_[static_cast<size_t>(i)];
      move = {buffer_.slot_for(i), kNoSlot};
      order_.push(move.stored);
      if (draws) move.drawn = draw_number();
    }
    buffer_.move(moves_);
    return count;
  }
  int64_t draw_from_buffer(int64_t n) {
    n = std::min(n, order_.num_buffered());
    moves_.clear();
    for (int64_t i = 0; i < n; ++i) moves_.push_back({kNoSlot, draw_number()});
    buffer_.move(moves_);
    return n;
  }
  int64_t draw_number() {
    const int64_t number = order_.draw();
    buffer_.free(number);
    return number;
  }

  ShuffleOrder order_;
  Buffer buffer_;
  std::vector<ShuffleMove> moves_;
  bool at_end_ = false;  // whether the input has ended
};

std::unique_ptr<DatasetIterator> ShuffleDataset::iterator(IteratorContext& context) const {
  if (row_table()) return std::make_unique<ShuffleIterator<BufferedRows>>(self(this), context);
  if (BufferedBlocks::can_hold(*this)) {
    return std::make_unique<ShuffleIterator<BufferedBlocks>>(self(this), context);
  }
  return std::make_unique<ShuffleIterator<BufferedElements>>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    ShuffleDataset,
    "dataset_shuffle",
    {"dataset: dataset.",
     "buffer_size: number in [1, Inf). Size of the shuffle buffer. Use at least the number of "
     "elements for a uniform shuffle.",
     "seed = NULL: number. With the seed of the graph it gives TensorFlow's order for both.",
     "reshuffle_each_iteration = NULL: flag. FALSE gives each pass through the data the same "
     "order."},
    "Shuffle the elements.");

RUNHOOKS_REGISTER_DATASET_AS(
    "ShuffleAndRepeatDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      Args passes(args.owner());
      passes.set("dataset",
                 Value::of(std::shared_ptr<CoreObject>(std::make_shared<ShuffleDataset>(args))));
      if (args.has("count")) passes.set("count", Value::of(args.integer("count")));
      return make_dataset("RepeatDataset", passes);
    },
    "dataset_shuffle_and_repeat",
    {"dataset: dataset.", "buffer_size: number in [1, Inf). Size of the shuffle buffer.",
     "count = NULL: number. Number of passes; `NULL` or -1 for no limit.",
     "seed = NULL: number. With the seed of the graph it gives TensorFlow's order for both."},
    "Repeat the elements, shuffled differently in each pass: `dataset_shuffle()`, then "
    "`dataset_repeat()`.");

}  // namespace

}  // namespace runhooks
