// Maps each input element to a dataset, then reads these datasets one after another (flat_map) or
// in interleaved blocks (interleave).
#include <algorithm>
#include <limits>

#include "base/interrupt.h"
#include "data/dataset_function.h"
#include "data/elements.h"
#include "data/one_input_dataset.h"

namespace runhooks {

namespace {

class InterleaveDataset : public Transformation {
 public:
  InterleaveDataset(const Args& args, int64_t cycle_length, int64_t block_length)
      : Transformation(dataset_argument(args)),
        map_function_(
            args.object<const DatasetValuedFunction>("map_func", "a function that gives datasets")),
        cycle_length_(cycle_length),
        block_length_(block_length) {}
  std::vector<DType> dtypes() const override { return map_function_->pattern().dtypes(); }
  std::vector<Shape> shapes() const override { return map_function_->pattern().shapes(); }
  std::shared_ptr<const Dataset> inner(size_t k) const override {
    return map_function_->pattern().inner(k);
  }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool runs_on_main_thread() const override {
    return input().runs_on_main_thread() || map_function_->function().runs_on_main_thread() ||
           map_function_->pattern().runs_on_main_thread();
  }
  bool reads_files() const override { return map_function_->pattern().reads_files(); }
  std::shared_ptr<const Dataset> shard_by_file(int64_t readers, int64_t reader) const override;
  const DatasetValuedFunction& map_function() const { return *map_function_; }
  size_t cycle_length() const { return static_cast<size_t>(cycle_length_); }
  int64_t block_length() const { return block_length_; }

 private:
  std::shared_ptr<const DatasetValuedFunction> map_function_;
  int64_t cycle_length_, block_length_;
};

// If the input is a table with at least one row per reader, each row is assumed to be a file, and
// the rows are sharded. Otherwise the elements are sharded.
std::shared_ptr<const Dataset> InterleaveDataset::shard_by_file(int64_t readers,
                                                                int64_t reader) const {
  if (!reads_files()) return nullptr;
  const RowTable* files = input().row_table();
  const bool are_enough = files && files->num_rows() >= readers;
  return are_enough ? with_input(input().shard_by_element(readers, reader))
                    : shard_by_element(readers, reader);
}

// One of the datasets that are read in turn. When a position is restored, the dataset is rebuilt
// from its input element and the results of the function. If the input is a table, only the row
// number is saved, because values such as paths may have changed.
struct Lane {
  int64_t row = 0;
  Components element, values;
  std::shared_ptr<const Dataset> dataset;
  std::unique_ptr<DatasetIterator> iterator;
};

// Maximum number of lanes in the saved states of earlier versions, which lack this number.
constexpr int64_t kMaxUnrecordedLanes = 10000;

class InterleaveIterator : public TransformationIterator<InterleaveDataset> {
 public:
  InterleaveIterator(std::shared_ptr<const InterleaveDataset> dataset, IteratorContext& context)
      : TransformationIterator(std::move(dataset), context),
        function_(dataset_->map_function().function().instantiate(context)),
        context_(context.fork()) {}

  bool next(ElementSink& sink) override {
    return read([&](DatasetIterator& lane, int64_t) { return lane.next(sink) ? 1 : 0; }) > 0;
  }
  int64_t next_block(int64_t n, ElementSink& sink) override {
    return read([&](DatasetIterator& lane, int64_t max_elements) {
      return lane.next_block(std::min(n, max_elements), sink);
    });
  }
  int64_t rows_seen() const override { return rows_seen_; }

 protected:
  void rewind_own() override {
    lanes_.clear();
    num_open_ = current_lane_ = 0;
    num_read_in_block_ = 0;
    at_end_ = false;
  }
  NamedTensors save_own() const override {
    NamedTensors state = {{"lane", Tensor::scalar(static_cast<int64_t>(current_lane_))},
                          {"in_block", Tensor::scalar(num_read_in_block_)},
                          {"is_over", Tensor::scalar(at_end_)},
                          {"lanes", Tensor::scalar(static_cast<int64_t>(lanes_.size()))},
                          {"rows_seen", Tensor::scalar(rows_seen_)}};
    add_subtree(state, "function/", function_->save());
    add_subtree(state, "seeds/", context_.save());
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (!lanes_[i].iterator) continue;
      const std::string path = lane_path(i);
      if (row_table()) {
        state[path + "row"] = Tensor::scalar(lanes_[i].row);
      } else {
        add_subtree(state, path + "element/", save_elements({&lanes_[i].element}));
        add_subtree(state, path + "values/", save_elements({&lanes_[i].values}));
      }
      add_subtree(state, path + "iterator/", lanes_[i].iterator->save());
    }
    return state;
  }
  void restore_own(const NamedTensors& state) override {
    const auto cycle_length = static_cast<int64_t>(dataset_->cycle_length());
    const int64_t lane = state_count(state, "lane", cycle_length - 1),
                  num_read_in_block = state_count(state, "in_block", dataset_->block_length() - 1),
                  rows_seen = state_count(state, "rows_seen");
    const bool at_end = state_flag(state, "is_over");
    const int64_t lanes = num_lanes(state, lane);
    if (lane > lanes && !at_end) {
      fail(Code::kDataLoss, "Invalid saved dataset number ", lane, " of ", lanes, ".");
    }
    function_->restore(subtree(state, "function/"));
    rewind_own();
    lanes_.resize(static_cast<size_t>(lanes));
    for (size_t i = 0; i < lanes_.size(); ++i) restore_lane(i, subtree(state, lane_path(i)));
    context_.restore(subtree(state, "seeds/"));
    current_lane_ = static_cast<size_t>(lane);
    num_read_in_block_ = num_read_in_block;
    at_end_ = at_end;
    rows_seen_ = rows_seen;
  }

 private:
  // States of earlier versions lack the number of lanes, so all possible lanes are looked up.
  int64_t num_lanes(const NamedTensors& state, int64_t lane) const {
    const auto cycle_length = static_cast<int64_t>(dataset_->cycle_length());
    if (state.count("lanes")) return state_count(state, "lanes", cycle_length);
    int64_t lanes = lane;
    const auto has_lane = [&state](int64_t i) {
      const std::string path = lane_path(static_cast<size_t>(i));
      const auto found = state.lower_bound(path);
      return found != state.end() && found->first.rfind(path, 0) == 0;
    };
    for (int64_t i = 0; i < cycle_length && i < kMaxUnrecordedLanes; ++i) {
      if (has_lane(i)) lanes = std::max(lanes, i + 1);
    }
    return lanes;
  }
  static std::string lane_path(size_t i) {
    return str_cat("lane_", static_cast<unsigned long>(i), "/");
  }
  // Reads elements from the current lane, or the next one that is not exhausted. Returns their
  // number; 0 if all lanes are exhausted. `read_lane(iterator, max_elements)` reads from a lane and
  // returns the number of elements.
  template <typename ReadLane>
  int64_t read(ReadLane read_lane) {
    InterruptPoll poll;
    while (!at_end_ || num_open_ > 0) {
      poll();
      if (current_lane_ >= lanes_.size()) {
        // Lanes are created on first use, because cycle_length may be large.
        if (at_end_) {
          current_lane_ = 0;
          continue;
        }
        lanes_.emplace_back();
      }
      Lane& lane = lanes_[current_lane_];
      if (!lane.iterator && !open(lane)) {
        advance();
        continue;
      }
      const int64_t num_read = read_lane(*lane.iterator, left_in_block());
      if (num_read > 0) {
        rows_seen_ += num_read;
        num_read_in_block_ += num_read;
        if (num_read_in_block_ >= dataset_->block_length()) advance();
        return num_read;
      }
      lane = Lane();
      --num_open_;
      advance();
    }
    return 0;
  }
  int64_t left_in_block() const {
    if (dataset_->cycle_length() == 1) return std::numeric_limits<int64_t>::max();
    return dataset_->block_length() - num_read_in_block_;
  }
  void advance() {
    current_lane_ = (current_lane_ + 1) % dataset_->cycle_length();
    num_read_in_block_ = 0;
  }
  // Opens the dataset of the next input element; returns false at the end of the input.
  bool open(Lane& lane) {
    if (at_end_ || !read_element(lane)) {
      at_end_ = true;
      return false;
    }
    lane.values = function_->run(lane.element);
    start_reading(lane);
    return true;
  }
  bool read_element(Lane& lane) {
    ComponentsSink element;
    const RowTable* table = row_table();
    if (!table) {
      if (!input_->next(element)) return false;
    } else {
      if (input_->next_rows(1, &lane.row) == 0) return false;
      table->put(lane.row, element);
    }
    lane.element = element.take();
    return true;
  }
  // Returns the table of the input, if the function always returns the same dataset for a row; else
  // NULL.
  const RowTable* row_table() const {
    const DatasetFunction& function = dataset_->map_function().function();
    const bool may_differ = function.is_stateful() || function.runs_on_main_thread();
    return may_differ ? nullptr : dataset_->input().row_table();
  }
  void start_reading(Lane& lane) {
    lane.dataset = dataset_->map_function().make(lane.values, lane.element);
    lane.iterator = lane.dataset->iterator(context_);
    ++num_open_;
  }
  void restore_lane(size_t i, const NamedTensors& state) {
    if (state.empty()) return;
    if (const RowTable* table = row_table()) {
      restore_row(lanes_[i], *table, state_count(state, "row"));
    } else {
      restore_element(lanes_[i], state);
    }
    start_reading(lanes_[i]);
    lanes_[i].iterator->restore(subtree(state, "iterator/"));
  }
  void restore_row(Lane& lane, const RowTable& table, int64_t row) {
    if (row >= table.num_rows()) {
      fail(Code::kDataLoss, "Invalid saved row ", row, " in ", table.num_rows(), " rows of data.");
    }
    ComponentsSink element;
    table.put(row, element);
    lane.row = row;
    lane.element = element.take();
    lane.values = function_->run(lane.element);
  }
  void restore_element(Lane& lane, const NamedTensors& state) {
    std::vector<Components> element =
        read_elements(subtree(state, "element/"), dataset_->input(), 1);
    const DatasetFunction& function = dataset_->map_function().function();
    std::vector<Components> values = read_elements(
        subtree(state, "values/"), *elements_dataset({}, function.dtypes(), function.shapes()), 1);
    if (element.size() != 1 || values.size() != 1) {
      fail(Code::kDataLoss, "The saved state of an interleaved dataset is damaged.");
    }
    lane.element = std::move(element[0]);
    lane.values = std::move(values[0]);
  }

  std::unique_ptr<DatasetFunction::Instance> function_;
  IteratorContext context_;
  std::vector<Lane> lanes_;
  size_t current_lane_ = 0, num_open_ = 0;
  int64_t num_read_in_block_ = 0, rows_seen_ = 0;
  bool at_end_ = false;
};

std::unique_ptr<DatasetIterator> InterleaveDataset::iterator(IteratorContext& context) const {
  return std::make_unique<InterleaveIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET_AS(
    "FlatMapDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<InterleaveDataset>(args, 1, 1);
    },
    "",
    {"dataset: dataset.", "map_func: function that gives datasets."},
    "Map each element to a dataset and concatenate the datasets.");

RUNHOOKS_REGISTER_DATASET_AS(
    "InterleaveDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> {
      return std::make_shared<InterleaveDataset>(args, args.integer("cycle_length"),
                                                 args.integer("block_length", 1));
    },
    "",
    {"dataset: dataset.", "map_func: function that gives datasets.",
     "cycle_length: number in [1, Inf). Number of datasets to read concurrently.",
     "block_length = 1: number in [1, Inf). Number of consecutive elements to read from each."},
    "Map each element to a dataset and interleave the datasets.");

}  // namespace

}  // namespace runhooks
