// The input's elements changed by a function; by several threads where it is asked for.
#include "data/ahead.h"
#include "data/function_iterator.h"

namespace runhooks {

namespace {

class MapDataset : public Transformation {
 public:
  explicit MapDataset(const Args& args)
      : Transformation(dataset_argument(args)),
        function_(args.made<const DatasetFunction>("function", "a graph function")),
        calls_(args.integer("num_parallel_calls", 1)) {}
  std::vector<DType> dtypes() const override { return function_->dtypes(); }
  std::vector<Shape> shapes() const override { return function_->shapes(); }
  std::unique_ptr<DatasetIterator> iterator(IteratorContext& context) const override;
  bool runs_on_main_thread() const override {
    return input().runs_on_main_thread() || function_->runs_on_main_thread();
  }
  const DatasetFunction& function() const { return *function_; }
  // A call that depends on those before it, or that the embedding language does, waits for them.
  size_t workers() const {
    const bool is_alone = function_->runs_on_main_thread() || function_->is_stateful();
    return is_alone ? 1 : static_cast<size_t>(calls_);
  }

 private:
  std::shared_ptr<const DatasetFunction> function_;
  int64_t calls_;
};

class MapIterator : public FunctionIterator<MapDataset> {
 public:
  using FunctionIterator::FunctionIterator;
  bool next(ElementSink& sink) override {
    ComponentsSink element;
    if (!input_->next(element)) return false;
    sink.put_all(function_->run(element.take()));
    return true;
  }
};

class ParallelMapIterator : public DatasetIterator {
 public:
  ParallelMapIterator(std::shared_ptr<const MapDataset> dataset, IteratorContext& context)
      : dataset_(std::move(dataset)) {
    Ahead::Options options;
    options.workers = dataset_->workers();
    options.capacity = options.workers;
    options.reads_on_caller = dataset_->input().runs_on_main_thread();
    for (size_t i = 0; i < options.workers; ++i) {
      functions_.push_back(dataset_->function().instantiate(context));
    }
    ahead_ = std::make_unique<Ahead>(
        dataset_->input().iterator(context), options,
        [this](size_t worker, Components element) { return functions_[worker]->run(element); });
  }
  bool next(ElementSink& sink) override { return ahead_->next(sink); }
  void rewind() override { ahead_->rewind(); }
  NamedTensors save() const override { return ahead_->save(); }
  void restore(const NamedTensors& state) override {
    ahead_->restore(state, dataset_->dtypes(), dataset_->shapes());
  }
  int64_t rows_seen() const override { return ahead_->rows_seen(); }
  int64_t epoch() const override { return ahead_->epoch(); }

 private:
  std::shared_ptr<const MapDataset> dataset_;
  std::vector<std::unique_ptr<DatasetFunction::Instance>> functions_;
  std::unique_ptr<Ahead> ahead_;
};

std::unique_ptr<DatasetIterator> MapDataset::iterator(IteratorContext& context) const {
  if (workers() > 1) return std::make_unique<ParallelMapIterator>(self(this), context);
  return std::make_unique<MapIterator>(self(this), context);
}

RUNHOOKS_REGISTER_DATASET(
    "MapDataset",
    [](const Args& args) -> std::shared_ptr<Dataset> { return std::make_shared<MapDataset>(args); },
    "",
    {"dataset: dataset.", "function: graph function.",
     "num_parallel_calls = NULL: number in [1, Inf). How many threads run the function."},
    "The elements changed by a function.");

}  // namespace

}  // namespace runhooks
